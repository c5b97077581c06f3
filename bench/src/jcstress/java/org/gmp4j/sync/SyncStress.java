// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZI_Result;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * The locks between threads that are no Ms. A lost wake-up shows as a test that does not end. Two actors each: jcstress leaves
 * out what needs more CPUs than there are.
 */
public class SyncStress {
    /** A section that is not atomic of itself; the last unlock leaves it free. */
    @JCStressTest
    @Outcome(id = "4, 1", expect = ACCEPTABLE, desc = "one after the other")
    @Outcome(expect = FORBIDDEN, desc = "both at once, or it is left locked")
    @State
    public static class Exclusion {
        private final Mutex mutex = new Mutex();
        private int count;

        private void twice() {
            for (int i = 0; i < 2; i++) {
                mutex.lock();
                count++;
                mutex.unlock();
            }
        }

        @Actor
        public void one() {
            twice();
        }

        @Actor
        public void two() {
            twice();
        }

        @Arbiter
        public void end(II_Result r) {
            r.r1 = count;
            r.r2 = mutex.tryLock() ? 1 : 0;
        }
    }

    /** Locked at first; another than the one that locked it unlocks it, and comes back for it. */
    @JCStressTest
    @Outcome(id = {"1, 3", "2, 3"}, expect = ACCEPTABLE, desc = "each sees what was done before it")
    @Outcome(expect = FORBIDDEN, desc = "both at once, or something is not seen")
    @State
    public static class HandOver {
        private final Mutex mutex = new Mutex();
        private int count;

        public HandOver() {
            mutex.lock();
        }

        @Actor
        public void unlocker() {
            count++;
            mutex.unlock();
            mutex.lock();
            count++;
            mutex.unlock();
        }

        @Actor
        public void waiter(II_Result r) {
            mutex.lock();
            r.r1 = count++;
            mutex.unlock();
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = count;
        }
    }

    /** A try while another unlocks: it fails, or has the lock and sees what was done under it. */
    @JCStressTest
    @Outcome(id = {"-1", "1"}, expect = ACCEPTABLE, desc = "failed, or sees it")
    @Outcome(expect = FORBIDDEN, desc = "has the lock and does not see it")
    @State
    public static class Try {
        private final Mutex mutex = new Mutex();
        private int data;

        public Try() {
            mutex.lock();
        }

        @Actor
        public void unlocker() {
            data = 1;
            mutex.unlock();
        }

        @Actor
        public void passer(I_Result r) {
            r.r1 = mutex.tryLock() ? data : -1;
        }
    }

    /** A writer beside a reader, which waits the first time and only tries the second: it sees nothing or all of it. */
    @JCStressTest
    @Outcome(id = {"0, 0", "0, 2", "2, 2", "0, -1"}, expect = ACCEPTABLE, desc = "nothing or all of it")
    @Outcome(expect = FORBIDDEN, desc = "half of it, or it went back, or the try failed though the writer was done")
    @State
    public static class ReaderAndWriter {
        private final RWMutex rw = new RWMutex();
        private int left;
        private int right;

        @Actor
        public void writer() {
            rw.lock();
            left++;
            right++;
            rw.unlock();
        }

        @Actor
        public void reader(II_Result r) {
            rw.rLock();
            r.r1 = left + right;
            rw.rUnlock();
            r.r2 = -1;
            if (rw.tryRLock()) {
                r.r2 = left + right;
                rw.rUnlock();
            }
        }
    }

    /** A writer waits for a reader, which then wants to write as well: they do not meet, and nobody is forgotten. */
    @JCStressTest
    @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "one after the other")
    @Outcome(expect = FORBIDDEN, desc = "both at once, or it is left locked")
    @State
    public static class Writers {
        private final RWMutex rw = new RWMutex();
        private int count;

        public Writers() {
            rw.rLock();
        }

        private void write() {
            rw.lock();
            count++;
            rw.unlock();
        }

        @Actor
        public void writer() {
            write();
        }

        @Actor
        public void reader() {
            rw.rUnlock();
            write();
        }

        @Arbiter
        public void end(II_Result r) {
            r.r1 = count;
            r.r2 = rw.tryLock() ? 1 : 0;
        }
    }

    /** The last is done while one waits: it sees what was done before. */
    @JCStressTest
    @Outcome(id = "2", expect = ACCEPTABLE, desc = "let go by the last")
    @Outcome(expect = FORBIDDEN, desc = "too early, or something is not seen")
    @State
    public static class Group {
        private final WaitGroup group = new WaitGroup();
        private int data;

        public Group() {
            group.add(2);
        }

        @Actor
        public void worker() {
            data = 1;
            group.done();
            data = 2;
            group.done();
        }

        @Actor
        public void waiter(I_Result r) {
            group.await();
            r.r1 = data;
        }
    }

    /** A waiter unlocks and sleeps while another comes with a signal. */
    @JCStressTest
    @Outcome(id = "true", expect = ACCEPTABLE, desc = "the signal reached it, or came before it looked")
    @Outcome(expect = FORBIDDEN, desc = "it went on without")
    @State
    public static class Signal {
        private final Mutex mutex = new Mutex();
        private final Cond cond = new Cond(mutex);
        private boolean set;

        @Actor
        public void waiter(Z_Result r) {
            mutex.lock();
            while (!set) {
                cond.await();
            }
            r.r1 = set;
            mutex.unlock();
        }

        @Actor
        public void signaller() {
            mutex.lock();
            set = true;
            mutex.unlock();
            cond.signal();
        }
    }

    /** A large request waits for what is given back in two parts, while the giver asks for a part again. */
    @JCStressTest
    @Outcome(id = "true, 0", expect = ACCEPTABLE, desc = "all is free again")
    @Outcome(expect = FORBIDDEN, desc = "more was held than there is, or something is lost")
    @State
    public static class Weights {
        private final Semaphore semaphore = new Semaphore(3);
        private int inside;
        private boolean wrong;

        public Weights() {
            semaphore.acquire(3);
        }

        private void alone(long n) {
            semaphore.acquire(n);
            inside++; // Both of them do not fit.
            wrong |= inside != 1;
            inside--;
            semaphore.release(n);
        }

        @Actor
        public void giver() {
            semaphore.release(1);
            semaphore.release(2);
            alone(1);
        }

        @Actor
        public void large() {
            alone(3);
        }

        @Arbiter
        public void end(ZI_Result r) {
            r.r1 = !wrong && semaphore.tryAcquire(3);
            r.r2 = inside;
        }
    }
}
