//! Samples of the formats that can only be imported.

use expect_test::expect;

use super::Sample;

pub(super) static PI: Sample = Sample {
    history: include_bytes!("data/pi.jsonl"),
    read: expect![[r#"
        session 33333333-3333-4333-8333-333333333333
        model claude-x
        m0 user: "read it"
        m1 assistant: ~"Hm." 4 bytes | "Reading." | !read#t1 {"path":"a"}
        m2 tool: =t1+ "text of a"
        m3 assistant: "Read."
        usage up to m0: 10 + 3 + 2 in, 5 + 0 out
    "#]],
    written: None,
};

pub(super) static GEMINI_CLI: Sample = Sample {
    history: include_bytes!("data/gemini-cli.jsonl"),
    read: expect![[r#"
        session 55555555-5555-4555-8555-555555555555
        model gemini-y
        m0 user: "<session_context>\nToday is Thursday.\n</session_context>"
        m1 user: "read it" | <image/png 8 bytes None>
        m2 assistant: ~"Plan\nRead a first." 0 bytes | "Reading." | !read_file#read_file-1 {"path":"a","n":1E2} | !run_shell_command#shell-2 {"command":"cargo test"} | !run_shell_command#shell-3 {"command":"sleep 9"}
        m3 tool: =read_file-1+ "text of a" | =shell-2- "exit 101"
        m4 user: "/home/mara/a is wrong"
        m5 assistant: "Written." | !write_file#write_file-4 {"path":"a"}
        m6 tool: =write_file-4+ "done"
        usage up to m1: 60 + 40 + 0 in, 5 + 7 out
    "#]],
    written: None,
};

pub(super) static CLINE: Sample = Sample {
    history: include_bytes!("data/cline.json"),
    read: expect![[r#"
        model claude-x
        m0 user: "<task>\nmend a\n</task>" | "<environment_details>\n# Current Working Directory (/w/a (b)) Files\na\n</environment_details>"
        m1 assistant: "I will read it." | !read_file#cline-1-1 {"path":"a"}
        m2 tool: =cline-1-1 "text of a" & <image/png 8 bytes None>
        m3 user: "<environment_details>\n# Time\n</environment_details>"
        m4 assistant: "A tag is `<b>`." | !write_to_file#cline-3-1 {"path":"a","content":"<content>x</content>"}
        m5 tool: =cline-3-1 "Saved.\n<user_message>No words of hers.</user_message>"
        m6 user: "The user provided the following message:\n<user_message>\nGood. Now b.\n</user_message>"
        m7 assistant: ~"Hm." 4 bytes | "Reading." | !read_file#toolu_1 {"path":"b"}
        m8 tool: =toolu_1 "text of b"
        m9 user: "<environment_details>\n# Time\n</environment_details>"
        m10 assistant: ~"Then c." 4 bytes
        m11 user: "[Cut here]"
        m12 assistant: "Done."
        m13 assistant: !execute_command#cline-11-1 {"command":"ls"}
        m14 tool: =cline-11-1 
        m15 user: "The user denied this operation and provided the following feedback:\n<feedback>\nNever list.\n</feedback>" | "<environment_details>\n# Time\n</environment_details>"
        m16 assistant: !write_to_file#cline-13-1 {"path":"b","content":"x"}
        m17 tool: =cline-13-1 "<feedback>none of hers</feedback>"
        m18 user: "The user approved this operation and provided the following context:\n<feedback>\nMind c.\n</feedback>"
        m19 assistant: !read_file#cline-15-1 {"path":"c"}
        m20 tool: =cline-15-1 "<feedback>\nnone of hers\n</feedback>"
        m21 user: "<environment_details>\n# Time\n</environment_details>"
        usage up to m0: 60 + 40 + 0 in, 5 + 0 out
        usage up to m11: 120 + 0 + 0 in, 2 + 0 out
    "#]],
    written: None,
};

pub(super) static COPILOT: Sample = Sample {
    history: include_bytes!("data/copilot.jsonl"),
    read: expect![[r#"
        session 66666666-6666-4666-8666-666666666666
        model gpt-x
        m0 system: "Be brief."
        m1 user: "It was of no matter."
        m2 user: "read it"
        m3 assistant: ~"Look first." 4 bytes | "Reading." | !view#c1 {"path":"a"} | !!apply_patch#c2 *** Begin
        m4 tool: =c1+ "text of a"
        m5 tool: =c2- "no such file"
        m6 user: "$ bash {\"command\": \"ls\"}\na b"
        m7 user: "A skill's text."
        m8 assistant: ~"That is all." 0 bytes | "Read."
    "#]],
    written: None,
};

pub(super) static OPENCODE: Sample = Sample {
    history: include_bytes!("data/opencode.json"),
    read: expect![[r#"
        session ses_1
        model m-x
        m0 user: "kept as it was"
        m1 user: "(a summary is asked for)"
        m2 assistant: "It was long ago."
        m3 user: "read it"
        m4 user: "Called the Read tool"
        m5 user: <image/png 8 bytes None>
        m6 assistant: ~"Look." 28 bytes | "Reading." | !read#c1 {"filePath":"a"} | !bash#c2 {"command":"x"}
        m7 tool: =c1+ "text of a" & <image/png 8 bytes None> | =c2- "exit 1"
        m8 assistant: !grep#c3 {"pattern":"a"} | !task#c4 {} | [part-of-next-month]
        m9 tool: =c3+ "(cleared by the agent to make room)"
        m10 assistant: "as far as it w"
        m11 user: "Search\nFind it."
        usage up to m5: 10 + 40 + 2 in, 5 + 3 out
    "#]],
    written: None,
};

pub(super) static TAU2: Sample = Sample {
    history: include_bytes!("data/tau2.json"),
    read: expect![[r#"
        m0 assistant: "Hi!"
        m1 user: !check#u1 {"deep": true}
        m2 tool: =u1+ "on"
        m3 user: "It is on."
        m4 assistant: "Fine."
        usage up to m3: 50 + 0 + 0 in, 4 + 0 out
    "#]],
    written: None,
};

pub(super) static SWE_AGENT: Sample = Sample {
    history: include_bytes!("data/swe-agent.traj"),
    read: expect![[r#"
        m0 system: "SETTING"
        m1 user: "A demonstration (Open file: /not/here.py)"
        m2 user: "Solve it."
        m3 assistant: "Look." | !bash#action {"command":"ls -a"}
        m4 tool: =action "a b\n(Open file: /w/a.py)\nbash-$"
        m5 assistant: "Mend it." | !edit#action {"path":"/w/a.py","start_line":2,"end_line":3,"replacement_text":"x = 1\ny = 2"}
        m6 tool: =action "Your changes have NOT been applied."
        m7 assistant: "Make one." | !create#action {"filename":"b.py"}
        m8 tool: =action "[File: /w/b.py (1 lines total)]\n(Open file: /w/b.py)"
        m9 assistant: !open#action {"path":"a.py","line_number":7}
        m10 tool: =action "x"
        m11 assistant: "Nothing to run."
    "#]],
    written: None,
};

pub(super) static MEETING: Sample = Sample {
    history: include_bytes!("data/meeting.json"),
    read: expect![[r#"
        m0 user: "Ann: Let us begin ."
        m1 user: "Bob: Yes ."
    "#]],
    written: None,
};

pub(super) static VCSUM: Sample = Sample {
    history: include_bytes!("data/vcsum.jsonl"),
    read: expect![[r#"
        m0 user: "发言人1: 你好。开始。"
        m1 user: "发言人2: 好。"
    "#]],
    written: None,
};
