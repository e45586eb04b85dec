//! The words themselves, by language.

/// Of the words of demand those that leave no doubt.
pub(super) const RULES: &[&[&str]] = &[
    &["must", "mustn't", "never", "always", "forbidden", "not allowed", "under no circumstances"],
    &["nunca", "siempre", "jamás", "prohibido", "obligatorio"],
    &["jamais", "toujours", "interdit", "obligatoire", "il ne faut"],
    &["nie", "niemals", "immer", "verboten", "auf keinen fall"],
    &["sempre", "jamais", "proibido", "obrigatório"],
    &["никогда", "всегда", "нельзя", "запрещено", "ни в коем случае"],
];

/// How Spanish orders not to do something.
const SPANISH_BANS: &[&str] = &[
    "no uses", "no utilices", "no modifiques", "no cambies", "no toques", "no borres", "no hagas",
    "no añadas", "no debes",
];

pub(super) const WIDE_RULES: &[&str] =
    &["绝不", "绝对不", "不得", "必须", "禁止", "始终", "永远不", "絶対", "必ず"];
pub(super) const DEMANDS: &[&[&str]] = &[
    // English.
    &[
        "must", "mustn't", "never", "always", "don't", "dont", "do not", "only", "instead", "make sure",
        "ensure", "at most", "at least", "no more than", "no less than", "should not", "shouldn't", "cannot",
        "can't", "avoid", "rather than", "not allowed", "required", "forbidden", "under no circumstances",
        "without", "need to", "has to", "have to", "be sure to", "keep in mind", "stick to", "no need to",
    ],
    // Spanish.
    &[
        "nunca", "siempre", "debe", "debes", "deben", "solo", "sólo", "solamente", "únicamente",
        "en lugar de", "en vez de", "asegúrate", "asegurate", "asegúrese", "como máximo", "como mínimo",
        "al menos", "evita", "evite", "evitar", "prohibido", "obligatorio", "tiene que", "tienes que",
        "jamás",
    ],
    SPANISH_BANS,
    // French.
    &[
        "jamais", "toujours", "dois", "doit", "doivent", "devez", "seulement", "uniquement", "au lieu de",
        "plutôt que", "assure-toi", "assure toi", "assurez-vous", "assurez vous", "au maximum", "au plus",
        "au moins", "évite", "évitez", "éviter", "interdit", "obligatoire", "il faut", "il ne faut",
        "ne pas", "n'utilise pas", "n'utilisez pas", "ne modifie pas", "ne modifiez pas", "ne touche pas",
        "ne touchez pas", "ne change pas", "ne changez pas", "n'ajoute pas", "n'ajoutez pas",
        "ne supprime pas", "ne supprimez pas",
    ],
    // German.
    &[
        "nie", "niemals", "immer", "muss", "musst", "müssen", "müsst", "darf", "darfst", "dürfen", "soll",
        "sollst", "sollen", "sollte", "sollten", "nur", "ausschließlich", "anstatt", "statt", "stattdessen",
        "stelle sicher", "stell sicher", "stellen sie sicher", "sicherstellen", "höchstens", "mindestens",
        "vermeide", "vermeiden", "verboten", "auf keinen fall", "nicht ändern", "nicht verwenden",
        "nicht benutzen", "nicht anfassen", "nicht löschen", "bitte nicht", "ändere nicht", "verwende nicht",
        "benutze nicht", "verwende keine", "benutze keine", "lösche nicht", "kein commit", "achte darauf",
    ],
    // Portuguese.
    &[
        "nunca", "sempre", "deve", "deves", "devem", "apenas", "somente", "só", "em vez de", "ao invés de",
        "certifique se", "certifica te", "assegure se", "no máximo", "no mínimo", "pelo menos", "evite",
        "evita", "proibido", "obrigatório", "não use", "não uses", "não utilize", "não altere",
        "não alteres", "não modifique", "não mude", "não mexa", "não apague", "não faça", "não adicione",
        "jamais", "tem que", "precisa",
    ],
    // Russian.
    &[
        "никогда",
        "всегда",
        "нельзя",
        "должен",
        "должна",
        "должно",
        "должны",
        "только",
        "вместо",
        "убедись",
        "убедитесь",
        "обязательно",
        "запрещено",
        "не более",
        "не менее",
        "максимум",
        "минимум",
        "избегай",
        "избегайте",
        "не надо",
        "не нужно",
        "не используй",
        "не используйте",
        "не меняй",
        "не меняйте",
        "не трогай",
        "не трогайте",
        "не удаляй",
        "не удаляйте",
        "не добавляй",
        "не добавляйте",
        "ни в коем случае",
        "следует",
    ],
];

/// Chinese and Japanese.
pub(super) const WIDE_DEMANDS: &[&str] = &[
    "必须",
    "必須",
    "不要",
    "不能",
    "不得",
    "禁止",
    "务必",
    "一定要",
    "只能",
    "只用",
    "仅限",
    "始终",
    "总是",
    "永远不",
    "绝不",
    "切勿",
    "至少",
    "最多",
    "不超过",
    "避免",
    "不可以",
    "不许",
    "确保",
    "而不是",
    "不应",
    "别用",
    "不准",
    "必ず",
    "絶対に",
    "ないで",
    "てはいけ",
    "てはならない",
    "のみ",
    "だけ",
    "常に",
    "決して",
    "避けて",
    "なければならない",
    "なければなりません",
    "べきで",
    "以内",
    "以下に",
    "代わりに",
    "ようにして",
    "しなくていい",
];

pub(super) const LETTING_GO: &[&[&str]] = &[
    &[
        "no longer", "forget", "scratch that", "never mind", "nevermind", "ignore", "changed my mind",
        "you can now", "you may now", "it is fine to", "it's fine to", "it's ok to", "it is ok to",
        "not anymore", "disregard", "drop the", "scrap the", "scrap that", "scrap what", "scrap my",
        "scratch what", "strike what",
    ],
    &["ya no", "olvida", "olvídate", "ignora"],
    &["ne plus", "oublie", "oubliez", "ignore", "plus besoin"],
    &["nicht mehr", "vergiss", "ignoriere"],
    &["já não", "esquece", "esqueça", "ignore", "não precisa mais"],
    &["больше не", "забудь", "забудьте", "передумал", "передумала"],
];

pub(super) const CORRECTIONS: &[&[&str]] = &[
    &["actually", "instead", "after all"],
    &["en realidad", "mejor", "al final"],
    &["finalement", "en fait"],
    &["doch", "eigentlich", "stattdessen"],
    &["na verdade", "afinal"],
    &["на самом деле", "всё таки"],
];

pub(super) const BEGINNINGS: &[&[&str]] = &[
    &["from now on"],
    &["a partir de ahora"],
    &["désormais", "à partir de maintenant"],
    &["ab jetzt", "ab sofort"],
    &["a partir de agora"],
    &["теперь", "с этого момента"],
];

pub(super) const WIDE_LETTING_GO: &[&str] = &["不再", "忘了", "忘掉", "算了", "もう", "取り消", "忘れて"];

pub(super) const WIDE_CORRECTIONS: &[&str] = &["其实", "改成", "改为", "やっぱり", "やはり"];

pub(super) const WIDE_BEGINNINGS: &[&str] = &["从现在起", "今後は"];

/// What makes a sentence a ban where it stands before the verb; "without" and "no" may stand in what is allowed.
pub(super) const FORBIDDING: &[&[&str]] = &[
    &[
        "never", "don't", "dont", "do not", "must not", "mustn't", "can't", "cannot", "should not",
        "shouldn't", "avoid", "forbidden", "not allowed", "must be no", "nothing", "nobody", "no one",
        "off limits", "out of bounds", "hands off", "stay out of", "keep out of", "can no longer", "may not",
        "isn't allowed", "aren't allowed", "no longer allowed", "not ok", "not okay", "not fine",
        "no longer ok", "no longer okay",
    ],
    &[
        "nunca", "jamás", "evita", "evite", "evitar", "prohibido", "nada de", "no puedes", "no pueden",
        "no se puede", "no está permitido", "no se permite",
    ],
    SPANISH_BANS,
    &["ne", "jamais", "évite", "évitez", "interdit", "pas de", "pas d", "aucun", "aucune"],
    &["nie", "niemals", "nicht", "kein", "keine", "keinen", "verboten", "vermeide"],
    &["não", "nunca", "jamais", "evite", "proibido"],
    &["не", "никогда", "нельзя", "запрещено"],
];

pub(super) const WIDE_FORBIDDING: &[&str] = &["不要", "别", "不得", "不能", "禁止", "ないで"];

/// What allows something, wherever it stands: a line too many is the worst that comes of it.
pub(super) const PERMITTING: &[&[&str]] = &[
    &[
        "you may", "may now", "can now", "you can", "you're free to", "you are free to", "feel free",
        "go ahead", "is fine", "are fine", "it's fine", "that's fine", "fine to", "fine with", "is ok",
        "is okay", "it's ok", "it's okay", "ok to", "okay to", "are ok", "are okay", "allowed", "permission",
        "i don't mind", "changed my mind", "welcome to", "all right", "alright to", "no longer need",
        "don't have to", "do not have to", "needn't", "decided to", "second thought", "fine again",
        "ok again", "okay again", "is alright", "are alright", "fair game", "green light", "signed off",
        "can go", "is enough", "exempt", "raise that", "are welcome", "is welcome", "will do", "works now",
        "work now", "can be longer", "can be more", "may be changed", "can be changed", "may be edited",
        "can be edited", "may be touched", "can be touched", "may be modified", "can be modified",
        "may be used", "can be used",
    ],
    &[
        "puedes", "puede", "pueden", "podéis", "está bien", "se permite", "permitido", "luz verde", "vale",
        "basta con", "sin preguntar",
    ],
    &[
        "tu peux", "vous pouvez", "on peut", "c'est bon", "autorisé", "autorise", "permis", "feu vert",
        "d'accord", "vas y", "suffit", "accepté", "acceptée", "acceptés", "acceptées", "toléré", "tolérée",
        "tolérés", "tolérées",
    ],
    &[
        "du darfst", "darfst du", "du kannst", "kannst du", "ihr dürft", "erlaubt", "in ordnung", "ist okay",
        "ist ok", "sind okay", "sind ok", "wieder frei", "sie dürfen", "man darf", "vous avez le droit",
        "vocês podem", "reicht", "grünes licht", "ohne rückfrage", "geht auch", "gehen auch",
        "nicht mehr pflicht",
    ],
    &["você pode", "pode", "podes", "permitido", "tudo bem"],
    &["можно", "можешь", "можете", "разрешено", "разрешаю"],
];

/// What lifts something, whatever that is called.
pub(super) const LIFTING: &[&[&str]] = &[
    &[
        "lifted", "everything is allowed", "is allowed again", "are allowed again", "freeze is over",
        "no more restrictions", "restrictions are off",
    ],
    &["levantado", "levantada", "levantadas"],
    &["levé", "levée", "levées"],
    &["aufgehoben", "gilt nicht mehr", "gelten nicht mehr"],
    &["снят", "снята", "отменено"],
];

pub(super) const WIDE_PERMITTING: &[&str] = &["可以", "允许", "てもいい", "ても構わない", "許可"];

pub(super) const FUNCTION_WORDS: &[&str] = &[
    "that", "this", "with", "from", "have", "they", "them", "then", "than", "when", "will", "would",
    "should", "could", "also", "just", "please", "into", "your", "what", "which", "there", "here", "more",
    "most", "some", "make", "sure", "actually", "instead", "longer", "forget", "fine", "para", "pero",
    "como", "esta", "este", "pour", "avec", "dans", "mais", "nicht", "aber", "oder", "eine", "einen",
    "bitte", "jetzt", "mehr", "doch", "agora", "isso", "você", "если", "чтобы", "теперь", "больше",
    "пожалуйста", "now", "using", "used",
];
