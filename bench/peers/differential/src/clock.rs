//! Two clocks: the one on the wall, and the processor time of this process, or of this thread
//! where there are several workers, which a busy machine does not prolong.

use std::time::{Duration, Instant};

pub struct Clock {
    wall: Instant,
    processor: Duration,
    which: libc::clockid_t,
}

#[derive(Clone, Copy)]
pub struct Elapsed {
    pub wall: f64,
    pub processor: f64,
}

impl Clock {
    pub fn start() -> Clock {
        Clock::of(libc::CLOCK_PROCESS_CPUTIME_ID)
    }

    // Programs that borrow this file have one worker.
    #[allow(dead_code)]
    pub fn start_of_thread() -> Clock {
        Clock::of(libc::CLOCK_THREAD_CPUTIME_ID)
    }

    fn of(which: libc::clockid_t) -> Clock {
        Clock { wall: Instant::now(), processor: processor_time(which), which }
    }

    pub fn elapsed(&self) -> Elapsed {
        let processor = (processor_time(self.which) - self.processor).as_secs_f64();
        Elapsed { wall: self.wall.elapsed().as_secs_f64(), processor }
    }
}

fn processor_time(which: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // Cannot fail: the clock exists on every system that the crate builds on, the pointer is ours.
    unsafe { libc::clock_gettime(which, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
