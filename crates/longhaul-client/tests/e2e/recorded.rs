//! Keeps what a real model answered, so that a run of hours can be stopped, gone on with, and judged again by other
//! checks without asking again.

use std::{
    collections::HashMap,
    fs::{self, OpenOptions},
    io::Write,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Instant,
};

use async_trait::async_trait;
use longhaul_summarize::{ClientError, Completion, CompletionClient, CompletionRequest, Finish};
use longhaul_transcript::{ContentHash, Tokens, Usage};
use serde_json::{Value, json};

/// A client that asks another one once for each different request, and remembers the answer in a file: a JSON object a
/// line, appended as soon as it is there. Errors are not remembered.
///
/// The limit on the answer is no part of what makes requests different: at a temperature of 0 a whole answer within the
/// limit is the same under any limit, and one that is longer was cut off.
#[derive(Debug)]
pub(crate) struct Recorded {
    client: Arc<dyn CompletionClient>,
    file: PathBuf,
    answers: Mutex<HashMap<String, Completion>>,
}

impl Recorded {
    /// Returns `client` with the memory that `LONGHAUL_E2E_ANSWERS` names, or as it is where that is not set.
    pub(crate) fn or_not(client: Arc<dyn CompletionClient>) -> Arc<dyn CompletionClient> {
        let Some(file) = std::env::var_os("LONGHAUL_E2E_ANSWERS").map(PathBuf::from) else { return client };
        let said = fs::read_to_string(&file).unwrap_or_default();
        let answers = said.lines().filter_map(read).collect();
        Arc::new(Recorded { client, file, answers: Mutex::new(answers) })
    }
}

#[async_trait]
impl CompletionClient for Recorded {
    async fn complete(&self, request: &CompletionRequest) -> Result<Completion, ClientError> {
        let key = key(request);
        if let Some(answer) = self.answers.lock().unwrap().get(&key) {
            let length = answer.usage.unwrap_or_default().output;
            if length > request.max_tokens {
                return Ok(Completion { finish: Finish::Length, ..answer.clone() });
            }
            // One that was cut off by a lower limit than this one's is asked for again.
            if answer.finish != Finish::Length || length == request.max_tokens {
                return Ok(answer.clone());
            }
        }
        let since = Instant::now();
        let answer = self.client.complete(request).await?;
        let usage = answer.usage.unwrap_or_default();
        let line = json!({
            "key": key,
            "model": answer.model,
            "seconds": since.elapsed().as_secs(),
            "prompt_tokens": usage.prompt_total().0,
            "output_tokens": usage.output.0,
            "finish": answer.finish,
            "text": answer.text,
        });
        let mut file = OpenOptions::new().create(true).append(true).open(&self.file).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.answers.lock().unwrap().insert(key, answer.clone());
        Ok(answer)
    }
}

/// Everything that the answer depends on.
fn key(request: &CompletionRequest) -> String {
    let schema = request.schema.as_ref().map(|schema| schema.schema.to_string()).unwrap_or_default();
    let fields = [&request.model, &request.system, &request.user, &schema].map(|text| text.as_bytes());
    let temperature = format!("{:?}", request.temperature);
    ContentHash::of_fields(fields.into_iter().chain([temperature.as_bytes()])).short(32)
}

fn read(line: &str) -> Option<(String, Completion)> {
    let line: Value = serde_json::from_str(line).ok()?;
    let tokens = |name: &str| line[name].as_u64().map(Tokens).unwrap_or_default();
    let mut usage = Usage::default();
    (usage.input, usage.output) = (tokens("prompt_tokens"), tokens("output_tokens"));
    let answer = Completion {
        text: line["text"].as_str()?.to_owned(),
        finish: serde_json::from_value::<Finish>(line["finish"].clone()).ok()?,
        usage: Some(usage),
        model: line["model"].as_str()?.to_owned(),
    };
    Some((line["key"].as_str()?.to_owned(), answer))
}
