package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.Select;
import org.gmp4j.context.Context;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.M;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Pool;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each public operation with ever less stack left, down to nothing: it is done, or a StackOverflowError refuses it and nothing
 * has happened. From goroutines and plain threads, interpreted and compiled, the first time and later, while others use the
 * same objects. Afterwards no lock is held, no goroutine is lost, all that was sent has been received.
 */
class SectionOverflowTest {
    static final class Program {
        private static final int STACK = 256 << 10;
        /** Each depth is so much nearer to the end of the stack than the one before, or so many bytes. */
        private static final int SHARE = 12;
        private static final int LEAST_STEP = 256;
        private static final int ROUNDS = Integer.getInteger("test.rounds");
        /** What the JDK's unpark takes before it calls us, and the look there. */
        private static final int OF_UNPARK = 4 << 10;
        /** What a round's depths are off those of the one before, in bytes. */
        private static final int SHIFT = 352;
        /** What a frame of {@link #descend} takes at most: the interpreter's. */
        private static final int LARGEST_FRAME = 192;
        private static final Duration LONG = Duration.ofHours(1);

        /** As long as there is any stack at all. */
        private static final Set<String> NEVER_REFUSED = Set.of("unpark", "point");

        private final AtomicReference<Throwable> failed = new AtomicReference<>();
        private final Gmp gmp = Gmp.builder().procs(2).maxStack(STACK).uncaught((id, t) -> failed.compareAndSet(null, t)).build();
        private final Map<String, Runnable> ops = new LinkedHashMap<>();
        /** What others do with the same objects, again and again until the end. */
        private final Map<String, Runnable> partners = new LinkedHashMap<>();
        /** What is true at the end of an operation's test; by its name. */
        private final Map<String, Runnable> ends = new LinkedHashMap<>();
        private volatile boolean stop;
        private volatile boolean ended;
        private volatile boolean closing;
        private final AtomicReference<Thread> parked = new AtomicReference<>();
        private boolean goroutine;
        private int done;
        private int refused;

        public static void main(String[] args) throws Exception {
            new Program().test(args[0].equals("goroutine"), args.length > 1 ? args[1] : ".*");
        }

        private void test(boolean fromGoroutine, String pattern) throws Exception {
            goroutine = fromGoroutine;
            channels();
            locks();
            others();
            if (goroutine) {
                ofGoroutines();
            }
            Scheduler s = gmp.call(() -> GStack.current().s);
            for (String name : ops.keySet()) {
                if (name.matches(pattern)) {
                    one(name, s);
                }
            }
            closing = true;
            LockSupport.unpark(parked.get());
            assertEquals("", gmp.close(Duration.ofSeconds(20)));
            System.out.print("ok");
        }

        private void one(String name, Scheduler s) throws Exception {
            done = 0;
            refused = 0;
            stop = false;
            ended = false;
            WaitGroup partner = new WaitGroup();
            gmp.run(() -> {
                if (partners.containsKey(name)) {
                    partner.go(() -> {
                        while (!stop) {
                            partners.get(name).run();
                        }
                        ended = true;
                    });
                }
            });
            Runnable sweep = () -> sweep(ops.get(name));
            if (goroutine) {
                gmp.run(sweep);
            } else {
                Thread t = new Thread(null, sweep, "deep", STACK + (256 << 10));
                t.setUncaughtExceptionHandler((x, e) -> failed.compareAndSet(null, e));
                t.start();
                t.join();
            }
            gmp.run(() -> { // On another stack or thread, the partner still at work.
                ops.get(name).run();
                done++;
            });
            stop = true;
            if (ends.containsKey(name)) {
                ends.get(name).run();
            }
            partner.await();
            if (failed.get() != null || done == 0 || refused == 0 && !NEVER_REFUSED.contains(name)) {
                throw new AssertionError(name + ": done " + done + ", refused " + refused, failed.get());
            }
            assertEquals(List.of(), Invariants.sample(s), name);
        }

        /** The first time with just enough room, then with less and less. */
        private void sweep(Runnable op) {
            for (int round = 0; round < ROUNDS; round++) {
                for (long room = 2 * Headroom.toTake() + 2048 - round * SHIFT; room > -1024;
                        room -= Math.max(LEAST_STEP, room / SHARE)) {
                    try {
                        int sure = (int) ((Headroom.left() - room) / LARGEST_FRAME);
                        long unused = descend(op, room, sure, 2, 3);
                    } catch (StackOverflowError e) {
                        refused++;
                    }
                    if (goroutine && M.locksOpaque(GStack.current().machine().mp) != 0) {
                        throw new AssertionError("m.locks is not 0 after " + room);
                    }
                }
            }
        }

        /** Looks at each frame only after {@code sure} of them, as that takes time. */
        private long descend(Runnable op, long room, int sure, long a, long b) {
            if (sure > 0 || Headroom.left() > room) {
                return descend(op, room, sure - 1, b, a) + a * b;
            }
            op.run();
            done++;
            return a;
        }

        private void channels() {
            Chan<Integer> buffered = Chan.make(3);
            ops.put("try", () -> {
                buffered.trySend(1);
                buffered.tryRecv();
            });
            LongChan longs = LongChan.make(3);
            ops.put("tryLong", () -> {
                longs.trySend(1);
                longs.tryRecv();
            });
            Chan<Integer> to = Chan.make();
            AtomicInteger received = new AtomicInteger();
            ops.put("send", () -> to.send(1));
            partners.put("send", () -> {
                if (to.recvWithin(Duration.ofMillis(5)) != null) {
                    received.incrementAndGet();
                }
            });
            ends.put("send", () -> {
                while (received.get() < done) {
                    Thread.yield();
                }
                if (received.get() > done) {
                    throw new AssertionError("sent " + done + ", received " + received);
                }
            });
            Chan<Integer> from = Chan.make();
            ops.put("recv", () -> from.recv());
            partners.put("recv", () -> from.sendWithin(1, Duration.ofMillis(5)));
            Chan<Integer> never = Chan.make();
            ops.put("timed", () -> {
                never.recvWithin(Duration.ofNanos(1000));
                never.sendWithin(1, Duration.ofNanos(1000));
            });
            Chan<Integer> a = Chan.make();
            Chan<Integer> b = Chan.make(1);
            ops.put("select", () -> Select.of().recv(a, v -> { }).send(b, 1, () -> { }).run());
            partners.put("select", () -> {
                a.sendWithin(1, Duration.ofMillis(1));
                b.tryRecv();
            });
            ops.put("selectDefault", () -> Select.of().recv(never, v -> { }).send(never, 1, () -> { }).orElse(() -> { }).run());
            ops.put("close", () -> {
                Chan<Integer> c = Chan.make();
                c.close();
                c.recv();
            });
        }

        private void locks() {
            Mutex m = new Mutex();
            ops.put("mutex", () -> {
                m.lock();
                m.unlock();
            });
            partners.put("mutex", () -> {
                m.lock();
                Go.gosched();
                m.unlock();
            });
            RWMutex rw = new RWMutex();
            ops.put("rwmutex", () -> {
                rw.lock();
                rw.unlock();
                rw.rLock();
                rw.rUnlock();
            });
            partners.put("rwmutex", () -> {
                rw.lock();
                Go.gosched();
                rw.unlock();
                rw.rLock();
                Go.gosched();
                rw.rUnlock();
            });
            Semaphore sem = new Semaphore(2);
            ops.put("semaphore", () -> {
                sem.acquire(2);
                sem.release(2);
            });
            partners.put("semaphore", () -> {
                sem.acquire(1);
                Go.gosched();
                sem.release(1);
            });
            ops.put("waitGroup", () -> {
                WaitGroup g = new WaitGroup();
                g.add(1);
                gmp.go(g::done);
                g.await();
            });
            Mutex cm = new Mutex();
            Cond cond = new Cond(cm);
            ops.put("cond", () -> {
                cond.signal();
                cond.broadcast();
            });
            partners.put("cond", () -> {
                cm.lock();
                cond.await();
                cm.unlock();
            });
            ends.put("cond", () -> {
                while (!ended) { // It may not wait yet.
                    cond.broadcast();
                    Thread.yield();
                }
            });
            Mutex em = new Mutex();
            Cond each = new Cond(em);
            ops.put("condAwait", () -> {
                em.lock();
                try {
                    each.await();
                } finally {
                    em.unlock();
                }
            });
            partners.put("condAwait", () -> {
                each.broadcast();
                Go.gosched();
            });
            Pool<Object> pool = new Pool<>(Object::new);
            ops.put("pool", () -> {
                pool.put(pool.get());
                pool.put(new Object());
                pool.get();
            });
            partners.put("pool", () -> pool.put(pool.get()));
        }

        private void others() {
            Timer channel = Time.newTimer(LONG);
            ops.put("timer", () -> {
                channel.reset(LONG);
                channel.stop();
                Time.newTimer(LONG).stop();
            });
            AtomicInteger fired = new AtomicInteger();
            ops.put("afterFunc", () -> {
                Timer t = Time.afterFunc(LONG, fired::incrementAndGet);
                t.reset(Duration.ofNanos(1));
                t.stop();
            });
            ops.put("after", () -> Time.after(Duration.ofNanos(1000)).recv());
            ops.put("go", () -> gmp.go(() -> { }));
            ops.put("run", () -> gmp.run(() -> { }));
            ops.put("context", () -> {
                Context c = Context.background().withCancel();
                c.withTimeout(LONG).done();
                c.cancel();
            });
            ops.put("setProcs", () -> gmp.setProcs(2));
            AtomicInteger woken = new AtomicInteger();
            Thread unused = gmp.threadFactory().newThread(() -> {
                parked.set(Thread.currentThread());
                while (!closing) {
                    LockSupport.park();
                    woken.incrementAndGet();
                }
            });
            unused.start();
            while (parked.get() == null) {
                Thread.onSpinWait();
            }
            ops.put("unpark", () -> {
                if (Headroom.left() < OF_UNPARK) {
                    return; // The JDK's own frames may overflow, when the thread has its permit and was not submitted yet.
                }
                int before = woken.get();
                LockSupport.unpark(parked.get());
                while (woken.get() == before) { // The JDK has made it runnable: now it must run.
                    Thread.onSpinWait();
                }
            });
        }

        private void ofGoroutines() {
            ops.put("gosched", Go::gosched);
            ops.put("sleep", () -> Go.sleep(Duration.ofNanos(1000)));
            ops.put("lockOSThread", () -> {
                Go.lockOSThread();
                Go.unlockOSThread();
            });
            ops.put("blocking", () -> {
                try {
                    Object unused = Go.blocking(() -> 1);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            ops.put("point", Go::preemptPoint);
        }
    }

    @ParameterizedTest
    @CsvSource({"goroutine, -Xmixed, 2", "goroutine, -Xint, 1", "thread, -Xmixed, 2", "thread, -Xint, 1"})
    void operationsAreDoneOrRefused(String from, String option, int rounds) {
        ChildJvm.Result r = new ChildJvm(Program.class).with("-Dgmp.lockrank=true", option, "-Dtest.rounds=" + rounds).run(from);
        assertEquals("ok", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
