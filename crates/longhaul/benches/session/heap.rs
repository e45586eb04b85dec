//! What lives on the heap, counted by an allocator around the system's: what is resident holds as well what the system's
//! allocator keeps back for later.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// From this size on glibc takes a block from the system and gives it back, until that was done often: then it raises the
/// bound and keeps such blocks.
const LARGE: usize = 128 * 1024;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static N_LARGE: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counted.
pub(crate) struct Counting;

/// What was counted since the last look, in bytes.
pub(crate) struct Heap {
    pub(crate) live: usize,
    pub(crate) peak: usize,
    /// How many blocks of [`LARGE`] and more were asked for, and the largest of all.
    pub(crate) n_large: usize,
    pub(crate) largest: usize,
}

/// Returns what was counted since this was last asked.
pub(crate) fn take() -> Heap {
    let live = LIVE.load(Relaxed);
    let (n_large, largest) = (N_LARGE.swap(0, Relaxed), LARGEST.swap(0, Relaxed));
    Heap { live, peak: PEAK.swap(live, Relaxed), n_large, largest }
}

fn grown(by: usize) {
    let live = LIVE.fetch_add(by, Relaxed) + by;
    PEAK.fetch_max(live, Relaxed);
}

fn asked(size: usize) {
    LARGEST.fetch_max(size, Relaxed);
    if size >= LARGE {
        N_LARGE.fetch_add(1, Relaxed);
    }
}

#[allow(unsafe_code, reason = "an allocator cannot be counted otherwise; each call is handed on as it is")]
// SAFETY: every call goes to the system's allocator with the same arguments, and counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        asked(layout.size());
        grown(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        asked(layout.size());
        grown(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        asked(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        grown(size);
        unsafe { System.realloc(block, layout, size) }
    }
}
