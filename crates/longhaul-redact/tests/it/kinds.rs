//! Secrets of every kind. The tests of the command plant them too.

/// Kind, what stands before the secret, and the secret: `<A30>` is 30 letters and digits, `<a>` lower case only,
/// `<N>` digits, `<h>` hexadecimal digits, `<U>` upper case and digits, `<b>` base64. They are drawn when the test
/// runs, so that no scanner takes this file for a leak.
pub(crate) const KINDS: &[(&str, &str, &str)] = &[
    ("aws access key", "", "AKIA<2:16>"),
    ("aws secret key", "aws_secret_access_key = ", "<b40>"),
    ("github token", "", "ghp_<A36>"),
    ("github fine-grained token", "", "github_pat_<A22>_<A59>"),
    ("github server token", "", "ghs_<A36>"),
    ("gitlab token", "", "glpat-<A20>"),
    ("openai project key", "", "sk-proj-<A48>"),
    ("openai legacy key", "", "sk-<A20>T3BlbkFJ<A20>"),
    ("anthropic key", "", "sk-ant-api03-<A93>AA"),
    ("anthropic oauth token", "", "sk-ant-oat01-<A80>"),
    ("openrouter key", "", "sk-or-v1-<h64>"),
    ("google api key", "", "AIza<A35>"),
    ("google oauth token", "", "ya29.<A80>"),
    ("google client secret", "", "GOCSPX-<A28>"),
    ("slack bot token", "", "xoxb-<N12>-<N12>-<A24>"),
    ("slack user token", "", "xoxp-<N12>-<N12>-<N12>-<h32>"),
    ("slack webhook", "https://hooks.slack.com/services/", "T<U9>/B<U9>/<A24>"),
    ("discord webhook", "https://discord.com/api/webhooks/123456789012345678/", "<A68>"),
    ("stripe key", "", "sk_live_<A24>"),
    ("stripe webhook secret", "", "whsec_<A32>"),
    ("twilio key", "", "SK<h32>"),
    ("sendgrid key", "", "SG.<A22>.<A43>"),
    ("mailgun key", "mailgun_api_key=", "key-<h32>"),
    ("npm token", "", "npm_<a36>"),
    ("pypi token", "", "pypi-AgEIcHlwaS5vcmc<A70>"),
    ("hugging face token", "", "hf_<L34>"),
    ("replicate token", "", "r8_<A37>"),
    ("groq key", "", "gsk_<A52>"),
    ("xai key", "", "xai-<A80>"),
    ("digitalocean token", "", "dop_v1_<h64>"),
    ("databricks token", "", "dapi<h32>"),
    ("vault token", "", "hvs.<A96>"),
    ("discord webhook of a version", "https://ptb.discord.com/api/v10/webhooks/123456789012345678/", "<A68>"),
    ("discord bot token by itself", "see ", "MTk4NjIyNDgzNDcxOTI1MjQ4.G<A5>.<A38>"),
    ("facebook token", "see ", "EAAG<A120>"),
    ("fly machine token", "", "fm1r_<b120>"),
    ("voyage key", "", "pa-<A43>"),
    ("telegram bot token", "telegram bot token: ", "<N10>:A<A34>"),
    ("jwt", "", "eyJ<A30>.eyJ<A60>.<A43>"),
    ("password in a url", "postgres://app:", "<A18>@db.internal:5432/app"),
    ("bearer header", "Authorization: Bearer ", "<A40>"),
    ("password in an environment file", "PGPASSWORD=", "<A14>"),
    ("quoted password", "password: ", "\"<A12>\""),
    ("generic api key", "api_key=", "<A32>"),
    ("azure storage key", "AccountName=x;AccountKey=", "<b86>=="),
    (
        "private key",
        "",
        "-----BEGIN RSA PRIVATE KEY-----\n<b64>\n<b64>\n<b64>\n-----END RSA PRIVATE KEY-----",
    ),
    ("netrc", "machine example.org login me password ", "<A16>"),
    ("linear key", "", "lin_api_<a40>"),
    ("shopify token", "", "shpat_<h32>"),
    ("notion token", "", "ntn_<A46>"),
    ("figma token", "", "figd_<A40>"),
    ("doppler token", "", "dp.pt.<A43>"),
    ("plain password", "  password: ", "<a9>!<N2>"),
    ("typed password", "log in with password=", "<a9>2<A3>"),
    ("typed password in a command", "curl -d 'user=me' --pwd=", "<A8>!7<a4>"),
    ("password in words", "the password is ", "<A8>7<A4>"),
    ("mysql password", "mysql -u root -p", "<A14>"),
    ("sshpass password", "sshpass -p ", "<A14>"),
    ("docker login password", "docker login -u me -p ", "<A16>"),
    ("redis password", "redis-cli -h cache -a ", "<A20>"),
    ("key without an end", "", "-----BEGIN OPENSSH PRIVATE KEY-----\n<b64>\n<b64>\n"),
    (
        "key with a placeholder in it",
        "",
        "-----BEGIN RSA PRIVATE KEY-----\n[REDACTED:x:1]<b50>\n<b64>\n<b64>\n-----END RSA PRIVATE KEY-----",
    ),
    ("password in a query", "https://example.org/v1?api_key=", "<A24>"),
    ("azure connection", "Server=x;User Id=y;Password=", "<A16>;Encrypt=true"),
    ("age key", "", "AGE-SECRET-KEY-1<3:58>"),
    ("github oauth token", "", "gho_<A36>"),
    ("github user token", "", "ghu_<A36>"),
    ("github refresh token", "", "ghr_<A36>"),
    ("gitlab deploy token", "", "gldt-<A20>"),
    ("gitlab runner token", "", "glrt-<A20>"),
    ("gitlab workspace token", "", "glwt-<A20>"),
    ("slack cookie", "", "xoxd-<A40>%2F<A60>%3D"),
    ("slack client token", "", "xoxc-<N12>-<N12>-<N12>-<h64>"),
    ("slack app token", "", "xapp-1-A<U10>-<N13>-<h64>"),
    ("stripe restricted key", "", "rk_live_<A99>"),
    ("twilio auth token", "TWILIO_AUTH_TOKEN=", "<h32>"),
    ("mailgun bare key", "", "key-<h32>"),
    ("mailchimp key", "", "<h32>-us21"),
    ("pypi test token", "", "pypi-AgENdGVzdC5weXBpLm9yZ<A90>"),
    ("new hugging face token", "", "hf_<A34>"),
    ("openai service key", "", "sk-svcacct-<A74>"),
    ("google key of 2025", "", "AQ.Ab8RN6<A44>"),
    ("google refresh token", "", "1//0<A90>"),
    ("azure storage key by itself", "", "<A76>+ASt<A5>=="),
    ("azure devops token", "", "<A76>AZDO<A4>"),
    (
        "azure shared access signature",
        "https://acc.blob.core.windows.net/c?sv=2022-11-02&sr=c&sig=",
        "<A40>%2F<A2>%3D",
    ),
    (
        "azure service bus",
        "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=y;SharedAccessKey=",
        "<b43>=",
    ),
    ("aws session token", "", "IQoJb3JpZ2luX2Vj<b240>"),
    ("aws signature", "https://b.s3.amazonaws.com/o?X-Amz-Expires=60&X-Amz-Signature=", "<h64>"),
    ("digitalocean refresh token", "", "dor_v1_<h64>"),
    ("heroku key", "", "HRKU-AA<A58>"),
    ("heroku key by its name", "HEROKU_API_KEY=", "<h8>-<h4>-<h4>-<h4>-<h12>"),
    ("cloudflare token", "", "cfut_<A48>"),
    ("cloudflare token by its name", "CLOUDFLARE_API_TOKEN=", "<A40>"),
    ("databricks oauth secret", "", "dose<h32>"),
    ("datadog key", "DD_API_KEY=", "<h32>"),
    ("discord bot token", "Authorization: Bot ", "M<A25>.G<A5>.<A38>"),
    ("telegram token in an address", "https://api.telegram.org/bot", "<N10>:AA<A33>"),
    ("shopify app token", "", "shpua_<h32>"),
    ("square secret", "", "sq0csp-<A43>"),
    ("square token", "", "EAAA<A60>"),
    ("older notion token", "", "secret_<A43>"),
    ("linear oauth token", "", "lin_oauth_<h64>"),
    ("supabase key", "", "sb_secret_<A22>_<A8>"),
    ("vercel token", "", "vca_<A56>"),
    ("netlify token", "", "nfp_<A36>"),
    ("terraform cloud token", "", "<A14>.atlasv1.<A67>"),
    ("doppler service token", "", "dp.st.prd.<A43>"),
    ("postman key", "", "PMAK-<h24>-<h34>"),
    ("new relic key", "", "NRAK-<U27>"),
    ("new relic licence key", "", "<h36>NRAL"),
    ("sentry dsn", "https://", "<h32>@o12345.ingest.us.sentry.io/4501"),
    ("sentry user token", "", "sntryu_<h64>"),
    ("grafana service token", "", "glsa_<A32>_<h8>"),
    ("grafana cloud token", "", "glc_eyJ<A90>"),
    ("fly token", "", "fm2_<b120>"),
    ("perplexity key", "", "pplx-<A48>"),
    ("wireguard key", "PrivateKey = ", "<b42>A="),
    ("ed25519 key by itself", "", "MC4CAQAwBQYDK2VwBCIEI<b43>"),
    (
        "pgp key",
        "",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQVY<b60>\n<b64>\n<b64>\n=<b4>\n-----END PGP PRIVATE KEY BLOCK-----",
    ),
    ("basic header", "Authorization: Basic ", "<A36>=="),
    ("session cookie", "Cookie: theme=dark; session=", "<A40>"),
    ("session cookie on a command line", "curl -b 'session=", "<A40>'"),
    ("docker hub token", "", "dckr_pat_<A27>"),
    ("atlassian token", "", "ATATT3xFfGF0<A170>=<U8>"),
    ("bitbucket password", "", "ATBB<A32>"),
    ("circleci token", "", "CCIPAT_<A22>_<h40>"),
    ("sonar token", "", "squ_<h40>"),
    ("nuget key", "", "oy2<a43>"),
    ("hubspot token", "", "pat-na1-<h8>-<h4>-<h4>-<h4>-<h12>"),
    ("launchdarkly key", "", "sdk-<h8>-<h4>-<h4>-<h4>-<h12>"),
    ("pulumi token", "", "pul-<h40>"),
    ("rubygems key", "", "rubygems_<h48>"),
    ("openshift token", "", "sha256~<A43>"),
    ("firebase server key", "", "AAAA<A7>:APA91b<A134>"),
    ("one-time password seed", "otpauth://totp/a:b?issuer=a&secret=", "<2:32>"),
    ("salesforce token", "", "00D<A15>!AQ<A90>"),
    (
        "openvpn static key",
        "-----BEGIN OpenVPN Static key V1-----\n",
        "<h32>\n<h32>\n<h32>\n<h32>\n-----END OpenVPN Static key V1-----",
    ),
    ("nats seed", "", "SUAK<2:54>"),
    ("dropbox token", "", "sl.B<A130>"),
    ("newer dropbox token", "", "sl.u.A<A150>"),
    ("asana token", "", "1/1<N15>:<h32>"),
    ("newer asana token", "", "2/1<N15>/1<N15>:<h32>"),
    (
        "teams webhook",
        "https://contoso.webhook.office.com/webhookb2/",
        "<h8>-<h4>-<h4>-<h4>-<h12>@<h8>-<h4>-<h4>-<h4>-<h12>/IncomingWebhook/<h32>/<h8>-<h4>-<h4>-<h4>-<h12>",
    ),
    ("x bearer token", "", "AAAAAAAAAAAAAAAAAAAAA<A24>%2B<A30>%3D<A40>"),
];

/// Draws the parts of a secret: the same each time, different from kind to kind.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn text(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.next() as usize % alphabet.len()])).collect()
    }

    pub(crate) fn secret(&mut self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('<') {
            let (class, tail) = after.split_once('>').expect("the table is well formed");
            out.push_str(before);
            let (kind, length) = match class.split_once(':') {
                Some((kind, length)) => (kind, length),
                None => class.split_at(1),
            };
            let alphabet: &[u8] = match kind {
                "a" => b"abcdefghijkmnpqrstuvwxyz0123456789",
                "N" => b"0123456789",
                "h" => b"0123456789abcdef",
                "U" => b"ABCDEFGHJKLMNPQRSTUVWXYZ0123456789",
                "L" => b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
                "b" => b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/",
                "2" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
                "3" => b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
                "c" => b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
                "w" => b"abcdefghijklmnopqrstuvwxyz",
                // Signs that no shell, no form and no setting takes for its own.
                "s" => b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789%@!^+~",
                _ => b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789",
            };
            out.push_str(&self.text(alphabet, length.parse().expect("the table is well formed")));
            rest = tail;
        }
        out + rest
    }
}

/// Returns the longest run of a secret that would give it away: 10 characters from its middle.
pub(crate) fn tell(secret: &str) -> &str {
    let core = secret.split('@').next().unwrap_or(secret).trim_matches('"');
    let middle = core.len() / 2;
    &core[middle.saturating_sub(5)..(middle + 5).min(core.len())]
}

/// Returns each kind, what stands before its secret, and a secret.
pub(crate) fn kinds() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    let draws = KINDS.iter().enumerate();
    draws.map(|(index, (kind, before, template))| (*kind, *before, Draw(index as u64 + 7).secret(template)))
}
