"""Serves a GGUF model with llama.cpp's own HTTP server, on the loopback interface, until told to stop."""

import argparse
import signal
import threading

import xllamacpp as xlc

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--model", required=True)
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--alias", required=True)
parser.add_argument("--api-key", required=True)
parser.add_argument("--ctx", type=int, default=8192)
parser.add_argument("--max-seconds", type=int, default=1800)
args = parser.parse_args()

params = xlc.CommonParams()
params.model.path = args.model
params.hostnames = ["127.0.0.1"]
params.port = args.port
params.n_ctx = args.ctx
params.n_parallel = 1
# One thread: with more, the barriers between them dominate as soon as anything else runs on the machine.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.model_alias = {args.alias}
params.use_jinja = True
params.offline = True
params.api_keys = [args.api_key]
server = xlc.Server(params)
print("READY", server.listening_address, flush=True)

stop = threading.Event()
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda *_: stop.set())
stop.wait(args.max_seconds)
