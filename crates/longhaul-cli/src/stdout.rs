//! Whether the caller gave a stdout at all.
//!
//! Before `main`, Rust opens `/dev/null` in the place of a stdout that is closed (`>&-`), so that no file of the program's
//! own takes its number. Whoever writes there is told that all is well, and a history would be gone without a word. So it
//! is looked at before that, and known apart from a `/dev/null` that the caller chose.
#![cfg_attr(unix, allow(unsafe_code, reason = "nothing safe runs before Rust's own start"))]

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns whether stdout was closed when the program began.
pub(crate) fn was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}

/// The loader calls what is listed in this section before Rust's own start.
#[cfg(unix)]
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;

#[cfg(unix)]
extern "C" fn look() {
    use std::ffi::c_int;
    unsafe extern "C" {
        fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
    }
    const STDOUT: c_int = 1;
    const F_GETFD: c_int = 1;
    // SAFETY: the C library's own `fcntl`, which asks about the descriptor and changes nothing; -1 says that there is none.
    let flags = unsafe { fcntl(STDOUT, F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}
