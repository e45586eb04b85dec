//! The many ways in which people and programs spell that something is a password: each with many drawn ones in its place, and
//! beside them what says nearly the same and holds none.

use longhaul_redact::Redactor;
use serde_json::json;

use crate::kinds::Draw;

/// Each with the place of the password in brackets, and in them what it is drawn from: `m` letters and digits, `s` signs as well,
/// `c` letters alone in both cases, `w` a word of small letters, and other classes as `kinds.rs` has them.
const SPELLINGS: &[&str] = &[
    // settings
    "spring.datasource.password=«s12»",
    "hibernate.connection.password=«s12»",
    "my.dbPassword=«s12»",
    "helm install db --set auth.rootPassword=«s12» bitnami/mysql",
    "helm upgrade db --set auth.rootPassword=«m12»,auth.database=x",
    "curl -d 'user=me&password=«s6»#«s6»' https://x",
    "user=me&pass=«m6»#«m6»&x=1",
    "ansible_become_pass=«s12»",
    "ansible_become_pass: «s12»",
    "h1 ansible_host=10.0.0.1 ansible_ssh_pass=«m12»",
    "db_pass=«s12»",
    "db_pass: «s12»",
    "DB_PASS = '«s12»'",
    "dbPass: '«m12»',",
    "pass: «s12»",
    "pass = «m12»",
    "pw: «s12»",
    "pw=«m12»",
    "Pw: «m12»",
    "psk=«m12»",
    "psk=\"«s12»\"",
    "wpa_psk=«m12»",
    "wpa_passphrase=«s12»",
    "//registry.npmjs.org/:_authToken=«m30»",
    "//registry.npmjs.org/:_authToken=«h8»-«h4»-«h4»-«h12»",
    "_password=«m20»==",
    "secret_key_base: «h128»",
    "secret_key_base = '«m64»'",
    "SECRET_KEY_BASE=«h128»",
    "SECRET_KEY = '«s20»(&«s20»'",
    "SECRET_KEY = 'django-insecure-«s10»(&$«s30»'",
    "app.secret_key = b'«s12»'",
    "Password for bob: «s12»",
    "password for the admin user is «m12»",
    "Password for 'https://bob@github.com': «m12»",
    "password (root): «m12»",
    "root password -> «s12»",
    "password — «m12»",
    "credentials: «m12»",
    "credentials: bob:«s12»",
    "credentials: bob / «s12»",
    "Credentials = admin/«m12»",
    "creds: bob:«m12»",
    "login: bob / «s12»",
    "user/pass: bob/«s12»",
    "api_key=«c32»",
    "API_KEY = \"«c40»\"",
    "client_secret: «c36»",
    "authToken: '«c32»'",
    // other languages
    "Passwort: «s12»",
    "Passwort: «w9»",
    "das Passwort ist «m12»",
    "das Passwort lautet «s12»",
    "Kennwort = «m12»",
    "contraseña: «s12»",
    "CONTRASEÑA: «m12»",
    "contrasena=«m12»",
    "la contraseña es «m12»",
    "clave: «s12»",
    "mot de passe : «s12»",
    "Mot de passe: «w9»",
    "le mot de passe est «m12»",
    "mdp: «m12»",
    "senha: «s12»",
    "a senha é «m12»",
    "wachtwoord: «s12»",
    "lösenord: «s12»",
    "LÖSENORD: «m12»",
    "hasło: «s12»",
    "heslo: «m12»",
    "salasana: «m12»",
    "parola: «m12»",
    "şifre: «m12»",
    "пароль: «s12»",
    "Пароль: «w9»",
    "пароль — «m12»",
    "密码：«s12»",
    "密码: «w9»",
    "密码是«m12»",
    "管理员密码为 «m12»",
    "口令：«m12»",
    "パスワード：«s12»",
    "パスワードは «m12» です",
    "パスワード: 「«m12»」",
    "비밀번호: «s12»",
    "비밀번호는 «m12» 입니다",
    "密码＝«m12»",
    "password：«m12»",
    "password： «w9»",
    "API_KEY：«m32»",
    // on a command line
    "curl -su a:«s12» https://x",
    "curl -sSfLu a:«m12» https://x",
    "curl -ua:«m12» https://x",
    "docker login -u me -p=«m12» r.io",
    "docker login -u me -p«m12» r.io",
    "docker login -u me --password=«m12» r.io",
    "echo «m12» | docker login -u me --password-stdin r.io",
    "echo '«s12»' | docker login -u me --password-stdin",
    "printf '%s' «m12» | podman login --password-stdin -u me r.io",
    "docker login --password-stdin -u me <<< «m12»",
    "echo \"«s12»\" | sudo -S apt update",
    "echo «m12» | gh auth login --with-token",
    "mysql -u root '-p«s12»'",
    "mysql -u root \"-p«m12»\" shop",
    "az login -u me@x.io -p «s12»",
    "az login --service-principal -u x -p «m12» --tenant y",
    "ALTER USER 'a'@'%' IDENTIFIED WITH mysql_native_password BY '«s12»';",
    "ALTER USER a IDENTIFIED WITH caching_sha2_password BY \"«m12»\";",
    "CREATE USER a IDENTIFIED BY \"«m12»\";",
    "SET PASSWORD FOR 'a'@'%' = '«s12»';",
    "SET PASSWORD = PASSWORD('«m12»');",
    "CREATE ROLE a LOGIN ENCRYPTED PASSWORD '«w9»';",
    "CREATE LOGIN a WITH PASSWORD = N'«s12»';",
    "[\"--password\",\"«s12»\"]",
    "args: [\"--password\", \"«w9»\"]",
    "command: ['redis-server', '--requirepass', '«m12»']",
    "[\"redis-server\",\"--requirepass\",\"«w9»\"]",
    "redis-server --requirepass «m12»",
    "htpasswd -b .htpasswd bob «s12»",
    "htpasswd -bc .htpasswd bob «m12»",
    "htpasswd -nbB bob '«s12»'",
    "echo bob:«m12» | chpasswd",
    "echo 'root:«s12»' | sudo chpasswd",
    "chpasswd <<< 'bob:«m12»'",
    "printf 'bob:%s' «m12» | chpasswd",
    "echo «m12» | passwd --stdin bob",
    "7z a -p«m12» a.7z x",
    "7z x '-p«s12»' a.7z",
    "7za a -mhe=on -p\"«s12»\" a.7z x",
    "rar a -hp«m12» a.rar x",
    "smbclient //h/s -U u%«m12»",
    "smbclient '//h/s' -U 'dom\\u%«s12»'",
    "mount -t cifs //h/s /mnt -o username=u,password=«m12»",
    "net use z: \\\\h\\s «m12» /user:bob",
    "net user bob «s12» /add",
    "sshpass -p «s12» ssh h",
    "sshpass -p«m12» ssh h",
    "sshpass -p\"«s12»\" ssh h",
    "plink -pw «m12» h",
    "lftp -u bob,«m12» h",
    "xfreerdp /u:bob /p:«m12» /v:h",
    "mosquitto_pub -u bob -P «m12» -t x",
    "rabbitmqctl add_user bob «m12»",
    "keytool -genkey -storepass «m12» -keypass «m12»",
    "openssl enc -aes-256-cbc -k «m12» -in x",
    "ipmitool -U bob -P «m12» power on",
    "cqlsh -u bob -p «m12» h",
    "twine upload -u bob -p «m12» dist/x",
    "nmcli dev wifi connect home password «m12»",
    "mc alias set x https://h AKIDX «m40»",
    // addresses
    "git clone https://«m32»@github.com/x/y.git",
    "git clone https://«m32»:x-oauth-basic@github.com/x/y.git",
    "https://«m40»:@api.stripe.test/v1",
    "https://x/?q=ghp%5F«m36»",
    "https://x/cb#access%5Ftoken%3D«m36»",
    "https%3A%2F%2Fx%2F%3Fpassword%3D«m12»%26y%3D1",
    "glpat%2D«m20»",
    // files
    "{\"kty\":\"RSA\",\"n\":\"«m300»\",\"e\":\"AQAB\",\"d\":\"«m300»\"}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"«m43»\",\"y\":\"«m43»\",\"d\":\"«m43»\"}",
    "{\"k\":\"«m43»\",\"alg\":\"HS256\",\"kty\":\"oct\"}",
    "{'kty': 'OKP', 'crv': 'Ed25519', 'd': '«m43»', 'x': 'a'}",
    "localhost:5432:shop:bob:«s12»",
    "*:*:*:bob:«m12»",
    "db.example.org:6432:*:bob:«w9»",
    "otpauth://totp/Acme:bob@x.io?secret=«2:32»&issuer=Acme",
    "otpauth://totp/Acme:bob?issuer=Acme&amp;secret=«2:16»",
    "TOTP secret: «2:32»",
    "2FA seed = «2:16»",
    "otp_secret: «2:26»",
];

/// Which of the drawn passwords in a text are the last one in brackets: what is judged by.
fn drawn(template: &str, draw: &mut Draw) -> (String, Vec<String>) {
    let (mut text, mut secrets, mut rest) = (String::new(), Vec::new(), template);
    while let Some((before, behind)) = rest.split_once('«') {
        let (class, tail) = behind.split_once('»').expect("the table is well formed");
        let secret = password(class, draw);
        text.push_str(before);
        text.push_str(&secret);
        secrets.push(secret);
        rest = tail;
    }
    (text + rest, secrets)
}

/// Returns a password of this class: what people and generators make has a letter and a digit, or a letter and a sign.
fn password(class: &str, draw: &mut Draw) -> String {
    loop {
        let value = draw.secret(&format!("<{class}>"));
        let has = |of: fn(&u8) -> bool| value.bytes().any(|byte| of(&byte));
        let is_one = match class.as_bytes()[0] {
            b's' => {
                has(u8::is_ascii_alphabetic)
                    && has(u8::is_ascii_digit)
                    && value.as_bytes()[0].is_ascii_alphanumeric()
            }
            b'm' => has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit),
            _ => true,
        };
        if is_one {
            return value;
        }
    }
}

/// Half of a password gives it away as well.
fn is_told(clean: &str, secret: &str) -> bool {
    let half = secret.len().min(24).div_ceil(2);
    secret.as_bytes().windows(half.max(4)).any(|part| memmem(clean.as_bytes(), part))
}

fn memmem(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

#[test]
fn a_password_is_found_however_it_is_called() {
    let redactor = Redactor::builtin();
    let mut missed = std::collections::BTreeMap::new();
    for (nth, template) in SPELLINGS.iter().enumerate() {
        let mut draw = Draw(7_000 + nth as u64);
        for round in 0..40 {
            let (text, secrets) = drawn(template, &mut draw);
            let inner = json!({ "command": text }).to_string();
            let nested = json!({ "arguments": inner, "n": [1] }).to_string();
            let around = format!("I tried this:\n\n{text}\n\nand it went on.");
            let forms = [
                ("alone", redactor.redact_text(&text).0),
                ("in lines", redactor.redact_text(&around).0),
                ("in JSON", redactor.redact_json(&inner).0),
                ("in JSON in JSON", redactor.redact_json(&nested).0),
                ("in JSON in text", redactor.redact_text(&inner).0),
            ];
            // How it stands costs more to try than what it is.
            for (how, clean) in forms.iter().take(if round < 4 { 5 } else { 1 }) {
                let secret = secrets.last().expect("the table is well formed");
                if is_told(clean, secret) {
                    let told = missed.entry(*template).or_insert((0, *how, clean.to_string()));
                    told.0 += 1;
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), SPELLINGS.len());
}

#[test]
fn what_only_sounds_like_a_password_stays() {
    let redactor = Redactor::builtin();
    let mut taken = Vec::new();
    for text in INNOCENT {
        let inner = json!({ "command": text }).to_string();
        let nested = json!({ "arguments": inner }).to_string();
        let around = format!("I read this:\n\n{text}\n\nand it went on.");
        for clean in [
            redactor.redact_text(text).0,
            redactor.redact_text(&around).0,
            redactor.redact_json(&inner).0,
            redactor.redact_json(&nested).0,
        ] {
            if clean.contains("[REDACTED:") {
                taken.push(clean.into_owned());
            }
        }
    }
    assert!(taken.is_empty(), "{} of {}: {taken:#?}", taken.len(), INNOCENT.len());
}

/// What is said about passwords, in many languages, what programs do with them, and what only looks like a way to give one.
const INNOCENT: &[&str] = &[
    // prose
    "The password must have at least 8 characters and 1 digit.",
    "Your password expires in 30 days.",
    "A password of 12 characters is stronger than one of 8.",
    "Das Passwort muss mindestens 8 Zeichen haben.",
    "Passwort: mindestens 12 Zeichen, davon 1 Ziffer",
    "Das Passwort ist abgelaufen.",
    "Kennwort vergessen?",
    "La contraseña es obligatoria.",
    "contraseña: campo obligatorio",
    "La clave: trabajar en equipo.",
    "La palabra clave: es importante",
    "Mot de passe : obligatoire",
    "Le mot de passe est trop court (8 caractères).",
    "A senha é obrigatória.",
    "Het wachtwoord is verlopen.",
    "Lösenord: minst 8 tecken",
    "Hasło jest wymagane.",
    "Пароль должен содержать 8 символов.",
    "пароль: не менее 8 символов",
    "密码长度至少为8位",
    "密码：必填",
    "请输入密码：",
    "パスワードは8文字以上で入力してください",
    "パスワード：必須",
    "비밀번호는 8자 이상이어야 합니다",
    "비밀번호: 필수 항목",
    "Password for bob: ",
    "Password for user postgres: ",
    "Enter the password for user1 and press return.",
    "[sudo] password for me: ",
    "the credentials: who has them, and since when",
    "Credentials: see the wiki, page 12",
    "credentials: include",
    "credentials: 'same-origin'",
    "credentials: true,",
    "login: required",
    "Login: https://x.example.org/login?next=1",
    "pass: 12, fail: 3",
    "Pass 2: resolve names",
    "pass 1/3: ok",
    "second pass: 4.2s",
    "tests pass: 128/128",
    "pw = 3.5",
    "pw: width in pixels",
    "psk: ask the one who has it",
    "Clave primaria: id_usuario",
    "Passwords are hashed with bcrypt (cost 12), salts have 16 bytes.",
    "The token is 32 bytes, base64url, without padding.",
    "Set a password with `passwd`, then log in on port 2222.",
    "The API key goes into the header X-Api-Key: 1 per request.",
    // programs
    "password = getPassword()",
    "password = get_password(user1)",
    "password := os.Getenv(\"DB_PASSWORD\")",
    "const password = process.env.DB_PASSWORD2;",
    "password = input(\"Password: \")",
    "pw = getpass.getpass(f\"Password for {user}: \")",
    "print(f\"Password for {user}: {password}\")",
    "String password = request.getParameter(\"password\");",
    "this.password = password1;",
    "self._pass = pass_",
    "user.password=hash(password1)",
    "form.password.value=''",
    "spring.datasource.password=${DB_PASSWORD}",
    "spring.datasource.password=@db.password@",
    "spring.datasource.password=ENC(abc)",
    "--set auth.rootPassword=$ROOT_PASSWORD",
    "--set auth.rootPassword=\"$(cat pw.txt)\"",
    "--set auth.existingSecret=db-secret1",
    "ansible_become_pass: \"{{ vault_become_pass }}\"",
    "ansible_become_pass=\"{{ lookup('env', 'PASS') }}\"",
    "db_pass = config.get('db_pass')",
    "db_pass = os.environ['DB_PASS']",
    "psk = wifi.psk",
    "int pw = w1 * 2;",
    "let pw = pw1 + pw2;",
    "pass = pass + 1",
    "for pass in range(3): print(pass)",
    "if (pass == 2) { next(); }",
    "var pass = (x > 3) ? a1 : b2;",
    "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
    "secret_key_base: <%= ENV[\"SECRET_KEY_BASE\"] %>",
    "SECRET_KEY = os.environ[\"SECRET_KEY\"]",
    "SECRET_KEY = env('SECRET_KEY')",
    "SECRET_KEY = 'your-secret-key-here'",
    "SECRET_KEY = get_random_secret_key()",
    "credentials = service_account.Credentials.from_file(path)",
    "credentials: Credentials = field()",
    "Credentials::new(user1, password2)",
    "fetch(url, { credentials: 'include' })",
    "private final String kennwort1 = Kennwort.lesen();",
    "[\"--password\", password]",
    "[\"--password-stdin\"]",
    "parser.add_argument('--requirepass')",
    // command lines
    "curl -su \"$USER:$PASS\" https://x",
    "curl -sSfLo out.txt https://x/y:z",
    "curl -sS https://x -o a:b",
    "curl -u bob https://x",
    "docker run -p 8080:80 nginx",
    "docker run -p=8080:80 nginx1",
    "docker login -p=\"$TOKEN\"",
    "docker login --password-stdin < token.txt",
    "echo $TOKEN | docker login --password-stdin",
    "cat token.txt | docker login -u me --password-stdin",
    "echo \"$PASS\" | sudo -S true",
    "echo done1 | tee log.txt",
    "mysql '-p'",
    "mysql \"-p$PASS\" shop",
    "az login -p $SECRET2",
    "az storage copy -p dir1",
    "CREATE USER a IDENTIFIED WITH auth_socket;",
    "CREATE USER a IDENTIFIED WITH mysql_native_password BY ?;",
    "htpasswd -c .htpasswd bob1",
    "htpasswd -b .htpasswd bob \"$PASS\"",
    "echo \"$user:$pass\" | chpasswd",
    "chpasswd < users.txt",
    "7z a -p a.7z x1",
    "smbclient //h/s -U bob1",
    "smbclient //h/s -U \"$u%$p\"",
    "sshpass -e ssh h1",
    "sshpass -f pw.txt ssh h1",
    "sshpass -p \"$PASS1\" ssh h",
    "mkdir -p src/main1",
    "cp -p a1 b1",
    "ps -p 1234",
    "net user bob1",
    "openssl enc -aes-256-cbc -in x1 -out y1",
    // addresses and files
    "git clone https://github.com/x/y.git",
    "git clone https://bob1@github.com/x/y.git",
    "https://medium.com/@someone/how-to-1a2b3c4d5e6f",
    "https://x.org/a%20b%2Fc?q=one%3Dtwo",
    "https://x.org/?next=%2Flogin%3Fpassword%3Dreset",
    "{\"kty\":\"RSA\",\"n\":\"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc\",\"e\":\"AQAB\"}",
    "{\"d\":\"M150 0 L75 200 L225 200 Z\",\"fill\":\"none\"}",
    "{\"k\":\"v\",\"d\":\"2026-11-24T03:14:47.000Z\"}",
    "src/main.rs:5432:12:error: unexpected token1",
    "a:1:b:2:c3d4",
    "10.0.0.1:5432: connection refused",
    "*:*:*",
    "otpauth://totp/Example:alice?secret=<seed>",
    "TOTP secret: scan the QR code",
    "2FA: enabled",
];
