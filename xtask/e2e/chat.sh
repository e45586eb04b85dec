#!/bin/sh
# Types a conversation into `longhaul chat` inside tmux, line by line, each when the prompt is back, and keeps all that the
# terminal showed.
#
#   xtask/e2e/chat.sh LONGHAUL BASE_URL MODEL WINDOW OUT < lines
#
# The key is read from LONGHAUL_API_KEY, the store is a folder beside OUT.
set -eu
longhaul=$1 url=$2 model=$3 window=$4 out=$5
name=longhaul-chat-$$
tmux new-session -d -s "$name" -x 110 -y 60 \
    "LONGHAUL_API_KEY=${LONGHAUL_API_KEY:-} $longhaul chat --base-url $url --model $model --window $window \
     --max-output 60 --temperature 0 --session tmux --store $out.store.db; sleep 5"
tmux pipe-pane -t "$name" "cat > $out"
wait_for_prompt() {
    until [ "$(tmux capture-pane -p -t "$name" | sed '/^ *$/d' | tail -n 1)" = ">" ]; do sleep 0.3; done
}
while IFS= read -r line; do
    wait_for_prompt
    tmux send-keys -t "$name" -l "$line"
    tmux send-keys -t "$name" Enter
    sleep 1
done
wait_for_prompt
tmux send-keys -t "$name" -l "/quit"
tmux send-keys -t "$name" Enter
while tmux has-session -t "$name" 2>/dev/null; do sleep 1; done
