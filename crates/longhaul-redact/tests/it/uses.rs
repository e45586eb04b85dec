//! Secrets where they are used: filled in, hashed, put into a store, told. The label and the value do not stand side by side, and
//! what stands so and holds none is below.

use longhaul_redact::Redactor;
use serde_json::json;

use crate::{
    kinds::Draw,
    spellings::{drawn, is_told},
};

/// As in `spellings.rs`.
const DRAWN: &[&str] = &[
    // fields that are filled in
    r#"{"fields":[{"name":"User","type":"textbox","value":"x"},{"name":"Password","type":"textbox","ref":"e3","value":"«m14»"}]}"#,
    r#"{"element":"Password textbox","ref":"e15","text":"«m14»","submit":true}"#,
    r#"{"selector":"input[type=password]","value":"«m14»"}"#,
    r##"{"value":"«m14»","delay":[0,{"min":5}],"selector":"#password"}"##,
    r#"{"db_password":{"sensitive":true,"type":"string","value":"«m14»"}}"#,
    r#"{"AdminPassword":{"Value":"«m14»","PlainText":true}}"#,
    r#"{"type":"random_password","name":"db","instances":[{"attributes":{"length":16,"result":"«m14»","special":true}}]}"#,
    "- textbox \"Password\" [active] [ref=e15]: «m14»",
    "- textbox \"Your password\" [ref=e15]:\n  - text: «m14»",
    "await page.getByRole('textbox', { name: 'Password' }).fill('«m14»');",
    "await page.getByLabel(/password/i).fill('«m14»');",
    "driver.findElement(By.name(\"password\")).sendKeys(\"«m14»\");",
    "driver.find_element(By.ID, \"password\").send_keys(\"«m14»\")",
    "document.getElementById('password').value = '«m14»';",
    "cy.get('#password').type('«m14»{enter}')",
    "fireEvent.change(screen.getByLabelText('Password'), { target: { value: '«m14»' } });",
    "await user.type(screen.getByLabelText(/password/i), '«m14»');",
    "await tester.enterText(find.byKey(const Key('passwordField')), '«m14»');",
    "fill_in 'user_password', with: '«m14»'",
    "- tapOn: \"Password\"\n- inputText: \"«m14»\"",
    // calls that hash, check, create, compare and sign
    "'password' => Hash::make('«m14»'),",
    "'password' => bcrypt('«m14»'),",
    "const hash = await bcrypt.hash('«m14»', 10);",
    "await bcrypt.compare('«m14»', user.password)",
    "print(bcrypt.hashpw(b'«m14»', bcrypt.gensalt()))",
    "password: await argon2.hash(\"«m14»\"),",
    "hashed_password=get_password_hash(\"«m14»\"),",
    "user.password = make_password('«m14»')",
    "assert user.check_password(\"«m14»\")",
    "password_hash('«m14»', PASSWORD_BCRYPT)",
    "passwordEncoder.encode(\"«m14»\")",
    "h, _ := bcrypt.GenerateFromPassword([]byte(\"«m14»\"), 12)",
    "User.objects.create_superuser('bob', 'b@c.d', '«m14»')",
    "await _userManager.CreateAsync(user, \"«m14»\");",
    "u.User = url.UserPassword(\"bob\", \"«m14»\")",
    "if (password === '«m14»') {",
    "if (\"«m14»\".equals(password)) {",
    "if (strcmp(password, \"«m14»\") == 0) {",
    "const t = jwt.sign({ id: 1 }, '«m32»', { expiresIn: '1h' });",
    "crypto.createHmac('sha256', '«m32»').update(body)",
    "tok.SignedString([]byte(\"«m32»\"))",
    // names and values apart
    "aws ssm put-parameter --name /prod/db/password --type String --value «m14» --overwrite",
    "aws ssm put-parameter --value \"«m14»\" --name /prod/x --type SecureString",
    "aws secretsmanager create-secret --name prod/db --secret-string \"«m14»\"",
    "az keyvault secret set --vault-name kv --name DbPass --value \"«m14»\"",
    r#"{"Parameter":{"Name":"/prod/db/password","Type":"SecureString","Value":"«m14»","Version":1}}"#,
    "  \"name\": \"DbPass\",\n  \"value\": \"«m14»\"",
    "echo \"«m14»\" | docker secret create db_password -",
    "printf '«m14»' | gcloud secrets versions add db-password --data-file=-",
    "echo \"«m14»\" | vercel env add API_SECRET production",
    "echo «m14» | npx wrangler secret put API_TOKEN",
    "gh secret set DB_PASSWORD <<< \"«m14»\"",
    "passwd bob <<< '«m14»'",
    "curl -s -u \\\n  \"admin:«m14»\" \\\n  http://x/api",
    "mysql --password \\\n  «m14» shop",
    "docker login -u bob \\\n  -p \\\n  «m14» registry",
    // defaults
    "API_KEY = os.getenv(\"API_KEY\", default=\"«m14»\")",
    "SECRET_KEY = os.environ.get(\"SECRET_KEY\", \"«m14»\")",
    "parser.add_argument(\"--password\", default=\"«m14»\", help=\"x\")",
    "val pw = System.getenv(\"DB_PASSWORD\") ?: \"«m14»\"",
    "DB_PASSWORD ?= «m14»",
    "export PGPASSWORD := «m14»",
    // settings and addresses
    "dsn := \"root:«m14»@tcp(127.0.0.1:3306)/shop?charset=utf8mb4\"",
    "app:«m14»@unix(/run/mysqld.sock)/shop",
    "NEWS_KEY=«h32»",
    "curl \"https://api.example.com/data?appid=«h32»\"",
    "curl \"https://api.example.com/data?app_key=«h32»&app_id=1\"",
    "define('AUTH_KEY',         '«m32»');",
    "define( 'SECURE_AUTH_SALT', 'x~@2c B%>)R{4C<5G «m32»' );",
    "binddn cn=admin,dc=x\nbindpw «m14»",
    "rootpw --plaintext «m14»",
    "enable secret 0 «m14»",
    "spring.security.user.password={noop}«m14»",
    "userPassword:: «b24»",
    "ALTER USER app IDENTIFIED BY «m14»;",
    "cast send --private-key 0x«h64» 0xabc \"f()\"",
    "openssl dgst -sha256 -hmac \"«m14»\"",
    "security add-generic-password -a bob -s x -w «m14»",
    "redis-cli -h cache.internal AUTH «m14»",
    "java -jar jenkins-cli.jar -s http://ci -auth admin:«m14» list-jobs",
    "useradd -m -p $(openssl passwd -6 «m14») bob",
    "drush user:password admin \"«m14»\"",
    "poetry config http-basic.internal bob «m14»",
    "poetry config pypi-token.internal «m32»",
    "schtasks /create /tn job /tr a.bat /ru ACME\\bob /rp «m14»",
    "ncftpput -u bob -p «m14» ftp.internal /in a.txt",
    "\"secret_string\": \"«m14»\"",
    "passwrod: «m14»",
    "security unlock-keychain -p «m14» login.keychain",
    // sentences
    "A temporary password is generated for root@localhost: «m14»",
    "Password for the [elastic] user (reset with `bin/elasticsearch-reset-password -u elastic`):\n  «m14»",
    "Password for the [elastic] user successfully reset.\nNew value: «m14»",
    "I found a hardcoded password (`«m14»`) in config.py line 12.",
    "The JWT secret (`«m32»`) is committed.",
    "the password on prod is «m14»",
    "new password should be «m14»",
    "PAT: «m32»",
    "host 10.0.0.5, user app, pass «m14»",
    "the login is bob / «m14»",
    "The default credentials are admin/«m14».",
    "der Login ist bob / «m14»",
    "las credenciales son bob / «m14»",
    "Les identifiants sont bob / «m14»",
    "Ich habe das Passwort auf «m14» geändert",
    "cambié la contraseña a «m14»",
    "j'ai changé le mot de passe en «m14»",
    "WLAN-Schlüssel: «m14»",
    "der API-Schlüssel ist «m32»",
    "la clave de API es «m32»",
    "la clé API est «m32»",
    // names that end in a number, or say that it is given again
    "data = {\"username\": \"bob\", \"password1\": \"«s12»\"}",
    "{\"new_password2\": \"«m14»\"}",
    "'password_confirmation' => '«s12»',",
    "{\"passwordAgain\": \"«m14»\"}",
    "PASSWORD_2=«s12»",
    "passwordConfirm: '«m14»',",
    "PGPASS=«m20»",
    "export AZURE_DEVOPS_EXT_PAT=«m32»",
    "BASIC_AUTH=admin:«m14»",
    "ngrok http 80 --basic-auth=\"bob:«m14»\"",
    // through what makes bytes of it
    "var jwtKey = []byte(\"«m32»\")",
    "\treturn []byte(\"«m40»\"), nil",
    "const JWT_SECRET: &[u8] = b\"«m32»\";",
    "static KEY: &[u8; 32] = b\"«m32»\";",
    "const encryptionKey = Buffer.from(\"«h64»\", \"hex\");",
    "SECRET_KEY = bytes(\"«m32»\", \"utf-8\")",
    "block, err := aes.NewCipher([]byte(\"«m32»\"))",
    "mac := hmac.New(sha256.New, []byte(\"«m32»\"))",
    "cipher = AES.new(b\"«m32»\", AES.MODE_GCM)",
    "let key = EncodingKey::from_secret(b\"«m32»\");",
    "node -e \"console.log(require('bcrypt').hashSync('«m14»', 10))\"",
    "app.use(session({ secret: '«m14»', resave: false }));",
    // what tools print, and what is written
    "id|name|password|api_key\n1|alice|«m14»|x",
    "===== Data =====\nKey            Value\n---            -----\nuser           app\ndb_password    «s12»",
    "<tr><th>User</th><th>Password</th></tr>\n<tr><td>bob</td><td>x</td></tr>\n<tr><td>amy</td><td>«m14»</td></tr>",
    "| service | login | pass |\n|---|---|---|\n| nas | admin | «m14» |",
    "mysql -u root \\\n  -p«m14» app",
    "echo \"«m14»\" > secrets/db_password.txt",
    "echo '«m14»' | sudo tee -a /run/secrets/app",
    "proxy_set_header Authorization \"Basic «m20»==\";",
    "+passwords:\n+  - x1y2z3\n+  - «m14»",
    // what sentences tell
    "Passwort der Datenbank ist «m14»",
    "clave de la base de datos: «m14»",
    "mot de passe root: «m14»",
    "creds: bob@acme.com «m14»",
    "I changed the root password from `«m14»` to `x`.",
    "test account: bob@x.co / «m14»",
    "logged in as admin:«m14»",
    // by themselves
    "provider \"datadog\" {\n  app_key = \"«h40»\"\n}",
    "<machineKey validationKey=\"«h64»\" />",
    "<machineKey decryptionKey=\"«h48»\" />",
    "supabase link --project-ref abc -p «m14»",
    "eas login -u bob -p «m14»",
    "composer config http-basic.repo.packagist.com alice «h40»",
    "    When I fill in \"Password\" with \"«m14»\"",
    "t.auth_password(\"root\", \"«m14»\")",
];

/// With the password in brackets.
const OF_WORDS: &[&str] = &[
    "my password is «Tundra8274»",
    "my password is «Tundra8274»?",
    "log in as admin with password «Bramble2812» and look",
    "I changed the password to «Nectar9397»#",
    "set the admin password to «Velvet4247» please",
    "I've set the password of `app` to `«Mango2025»?`.",
    "Created test user `bob@acme.example` with password `«Velvet2746»?`.",
    "pw is «Mango7353»",
    "setze das Passwort auf «Harbor4411»",
    "connecte-toi avec le mot de passe «Saffron7384»#",
    "entra con la contraseña «Comet1713»#",
    "login with bob@acme.example and «Kestrel1715»",
    "- Hardcoded credentials: `admin` / `«Lagoon7777»#` (config.py:12)",
    "  username:    bob\n  password:    «Lantern5331»#",
    "[password] => «Zephyr3691»#",
    "secret: «tidy-otter-lantern»",
    "0x«70617373776f72643d4d7132594e6f6a6f41446c5474414230»",
    "«44 42 5f 50 41 53 53 57 4f 52 44 3d 38 66 76 73 69 53 4a 30 6d 63 6e 48 6e 6a 50 47»",
    "{\"password1\": \"«Granite9018»\"}",
    "JWT_SECRET=«paper-dragon-cinnamon-13»",
    "JWT_SECRET: '«paper_dragon_cinnamon_11»'",
    "API_KEY=«maple-badger-falcon-30»",
    "SECRET_KEY = '«cobalt124»'",
    "  jwt_secret: «Velvet1623!»",
    "jwt.sign({ id }, '«paper-dragon-cinnamon-13»', { expiresIn: '1h' });",
    "EncodingKey::from_secret(b\"«Velvet2394»\")",
    "app.use(session({ secret: '«velvet830»' }))",
    "FLOWER_BASIC_AUTH=admin:«Granite9018»",
    "id|name|password\n1|alice|«Nimbus9214»",
    "| nas | login | pw |\n|---|---|---|\n| a | b | «Nimbus9214» |",
    "echo «Nimbus9214» > ~/.vault_pass",
    "la clave es «Orchid8342»",
    "Passwort der Datenbank ist «summer741»",
    "mot de passe root : «copper350»",
    "the root password was changed from «Meadow6457» to x",
    "changed the password from x to `«harbor874»`",
    "creds: bob@acme.com «Copper5787»",
    "account bob@x.co, «comet577»",
];

const INNOCENT: &[&str] = &[
    // fields
    r#"{"name":"password","type":"string","in":"query","required":true}"#,
    r#"{"name":"Password","type":"textbox","ref":"e3","value":""}"#,
    r#"{"element":"Password textbox","ref":"e15"}"#,
    r#"{"id":"password","label":"Password1","type":"PasswordInput2"}"#,
    r#"{"key":"password","text":"Forgot your password?","ref":"e12"}"#,
    r#"{"name":"password","type":"string","value":"${DB_PASSWORD2}"}"#,
    r#"{"name":"password_min","about":{"value":"x1Kq9ZbW2m"}}"#,
    "- textbox \"Password\" [ref=e15]\n- button \"Sign in\" [ref=e16]",
    "await page.getByLabel('Password').fill(process.env.E2E_PASSWORD2);",
    "await page.getByLabel('Password').fill('wrong-password1');",
    "await page.getByLabel('Password').press('Enter');",
    "cy.get('#password').should('have.value', passwordOf2(user))",
    // calls
    "Hash::make($request->password2)",
    "bcrypt.hash(req.body.password2, saltRounds10)",
    "make_password(None)",
    "check_password('password123')",
    "$hash = hash('ripemd256', $key);",
    "hash(\"sha3-512\", $data)",
    "crypto.createHash('sha256').update(token2).digest('hex')",
    "jwt.verify(token, publicKey2, { algorithms: ['RS256'] })",
    "createHmac('sha256', process.env.KEY2)",
    "User.objects.create_user('bob', 'bob2@acme.example')",
    "self.assertEqual(splitpasswd('user+1:a+b'), ('user+1', 'a+b'))",
    "('joe:password@proxy.example.com:3128',\n  (None, 'joe', 'password', 'proxy.example.com:3128')),",
    "redis-cli AUTH \"$REDIS_PW2\"",
    "openssl passwd -6 -salt x2y3z4w5",
    "poetry config virtualenvs.in-project true2false",
    // stores and defaults
    "aws ssm put-parameter --name /prod/log-level --value debug2verbose --type String",
    "aws secretsmanager create-secret --name prod/db --secret-string file://secret2.json",
    "echo \"$DB_PASSWORD2\" | docker secret create db_password -",
    "cat db_password2 | docker secret create db_password -",
    "os.getenv(\"PASSWORD_FILE\", \"/run/secrets/pw2\")",
    "os.getenv(\"SECRET_BACKEND\", \"vault-v2\")",
    "System.getenv(\"DB_USER\") ?: \"postgres14\"",
    "DB_PASSWORD ?= $(shell cat pw2)",
    "CACHE_KEY=9fceb02d0ae598e95dc970b74767f193",
    "COMMIT=9fceb02d0ae598e95dc970b74767f193",
    "curl \"https://x.example/?app_id=com.example.app2.beta.release\"",
    "define('AUTH_KEY', 'put your unique phrase here');",
    "username and password properties, as well as 2 more",
    // sentences
    "set the password to expire after 90d",
    "the password on prod is the same as on staging2",
    "hash the password SHA256 and store it",
    "password sha256 hashes",
    "The password column is `varchar255`.",
    "The password test uses `bcrypt12`.",
    "Write a credentials to the SQLAlchemy datastore.",
    "Add the access key as the 'AWSAccessKeyId2' field",
    "log in with OAuth2 and OpenID",
    "Credentials: OAuth2 / SAML2",
    "the login is at /login2",
    "The credentials are user1/user2 fixtures",
    "fingerprint 9f ce b0 2d 0a e5 98 e9 5d c9 70 b7",
    // types, names and states
    "    pseudo_token: Pattern",
    "interface A {\n  secret: Buffer\n  token: Cursor\n}",
    "    csrf_token: Widget\n    password: Widget",
    "token: newline",
    "unexpected token: semicolon",
    "  secret: mounted",
    "  secret: letsencrypt",
    "  secret: harbor-creds",
    "Secret: Synced",
    "  password: mandatory",
    "\"GetApiKeys\": {\"limit_key\": \"limit\", \"result_key\": \"items\"}",
    "\"passwords\": {\"title\": \"Passwords\", \"reset\": \"resetting\"}",
    "API_KEYS = [\"openai\", \"anthropic\"]",
    "passwords = [\"password1\", \"password2\"]",
    "--password <PASSWORD>  Password of the user [env: APP_PASSWORD=]",
    "\"Password:RequireDigit\": true",
    "password: hashedPassword2,",
    "('OAUTH2_CLIENT_SECRET', 'oauth2ClientSecret')",
    "{'JWT_SECRET': 'jwtSecret'}",
    "arn:aws:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[a-zA-Z0-9-_/+=.@!]+$",
    "openssl rsa -in deskey.bin > encrypt1-res.xml",
    "  password: UserPassword2,",
    "  password: PasswordDtoV2;",
    "    pub password: Utf8PathBuf,",
    "password: HashedPasswordV1,",
    "  password: Sha256Hash,",
    "passwordPolicy: 'min8-upper1-digit1',",
    "const pass2 = shadowPass.render(scene2d);",
    "password1: string, password2: string",
    "<input name=\"password_confirmation\" id=\"password_confirmation\">",
    "password_confirmation: oldPassword2,",
    "url_pat = \"users-by-id-2\"",
    "auth: redis:6379",
    "middleware: ['auth:sanctum']",
    "secretName: app-db-creds-2",
    "token: auth_token_name_2",
    "JWT_SECRET=change-me-please-123",
    "API_KEY=your-api-key-123",
    "var name = []byte(\"content-type-2\")",
    "return []byte(\"application/json2\"), nil",
    "| test | pass | fail |\n|---|---|---|\n| a1 | 12/14 | 2 |\n| b2 | 100% | 0 |",
    "a|password|b\nis one of three",
    "Key            Value\n---            -----\nregion         eu-west-1\nlease_duration 768h",
    "<tr><th>Password</th><th>User</th></tr><tr><td>Required</td><td>user12</td></tr>",
    "echo \"done\" > password_check.txt",
    "echo \"token_count=12\" >> token_stats.txt",
    "changed the password hash from sha1 to bcrypt",
    "raised the password length from 8 to 12",
    "the password field from form1 to form2",
    "account bob@x.co, 2026-11-27",
    "logged in as user:12345",
    "Password policy for admins: rule12",
];

#[test]
fn a_secret_is_found_where_it_is_used() {
    let redactor = Redactor::builtin();
    let mut missed = std::collections::BTreeMap::new();
    let mut try_it = |template: &'static str, text: &str, secret: &str, of_all: bool| {
        let inner = json!({ "command": text }).to_string();
        let around = format!("I tried this:\n\n{text}\n\nand it went on.");
        let forms = [
            ("alone", redactor.redact_text(text).0),
            ("in lines", redactor.redact_text(&around).0),
            ("in JSON", redactor.redact_json(&inner).0),
        ];
        for (how, clean) in forms.iter().take(if of_all { 3 } else { 1 }) {
            if is_told(clean, secret) {
                missed.entry(template).or_insert((0, *how, clean.to_string())).0 += 1;
            }
        }
    };
    for (nth, template) in DRAWN.iter().enumerate() {
        let mut draw = Draw(9_000 + nth as u64);
        for round in 0..20 {
            let (text, secrets) = drawn(template, &mut draw);
            try_it(template, &text, secrets.last().expect("the table is well formed"), round < 2);
        }
    }
    for template in OF_WORDS {
        let secret = template.split(['«', '»']).nth(1).expect("the table is well formed");
        try_it(template, &template.replace(['«', '»'], ""), secret, true);
    }
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), DRAWN.len() + OF_WORDS.len());
}

#[test]
fn what_stands_where_secrets_are_used_and_is_none_stays() {
    let redactor = Redactor::builtin();
    let mut taken = Vec::new();
    for text in INNOCENT {
        let inner = json!({ "command": text }).to_string();
        for clean in [redactor.redact_text(text).0, redactor.redact_json(&inner).0] {
            if clean.contains("[REDACTED:") {
                taken.push(clean.into_owned());
            }
        }
    }
    assert!(taken.is_empty(), "{} of {}: {taken:#?}", taken.len(), INNOCENT.len());
}
