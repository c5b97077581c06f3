// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;

import org.gmp4j.check.Invariants;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.M;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.synctest.Synctest;

/** The program of {@link SectionOverflowTest}: sweeps the operations of {@link OverflowOps} over all depths. */
final class OverflowProgram {
    static final int STACK = 256 << 10;
    /** Each depth is so much nearer to the end of the stack than the one before, or so many bytes. */
    private static final int SHARE = 12;
    private static final int LEAST_STEP = 256;
    private static final int ROUNDS = Integer.getInteger("test.rounds");
    /** For so many milliseconds each operation is done before, with all the stack there is: then it is compiled. */
    private static final int WARM = Integer.getInteger("test.warm", 0);
    /** What a round's depths are off those of the one before, in bytes. */
    private static final int SHIFT = 352;
    /** What a frame of {@link #fast} takes at most: the interpreter's. */
    private static final int LARGEST_FRAME = 192;

    private final boolean goroutine;
    private final OverflowOps all = new OverflowOps();
    private int refused;

    private OverflowProgram(boolean goroutine) {
        this.goroutine = goroutine;
    }

    /** Arguments: goroutine or thread, and a pattern of the operations' names. */
    public static void main(String[] args) throws Exception {
        new OverflowProgram(args[0].equals("goroutine")).test(args.length > 1 ? args[1] : ".*");
    }

    private void test(String pattern) throws Exception {
        new OverflowMoreOps(all).add(goroutine);
        all.add(goroutine);
        Scheduler s = all.gmp.call(() -> GStack.current().s);
        for (String name : all.ops.keySet()) {
            if (name.matches(pattern)) {
                one(name, s);
            }
        }
        all.close();
        assertEquals("", all.gmp.close(Duration.ofSeconds(20)));
        System.out.print("ok");
        System.exit(0); // A bubble's threads may be left.
    }

    private void one(String name, Scheduler s) throws Exception {
        all.done = 0;
        refused = 0;
        all.stop = false;
        all.ended = false;
        WaitGroup partner = new WaitGroup();
        all.gmp.run(() -> {
            if (all.partners.containsKey(name)) {
                partner.go(() -> {
                    while (!all.stop) {
                        all.partners.get(name).run();
                    }
                    all.ended = true;
                });
            }
        });
        Runnable op = all.ops.get(name);
        Runnable sweep = () -> sweep(op, all.fresh.contains(name));
        if (all.inBubble.contains(name)) {
            Synctest.test(sweep);
        } else if (goroutine) {
            all.gmp.run(sweep);
        } else {
            Thread t = new Thread(null, sweep, "deep", STACK + (256 << 10));
            t.setUncaughtExceptionHandler((x, e) -> all.failed.compareAndSet(null, e));
            t.start();
            t.join();
        }
        Runnable last = () -> { // On another stack or thread, the partner still at work.
            op.run();
            all.done++;
        };
        if (all.inBubble.contains(name)) {
            Synctest.test(last);
        } else {
            all.gmp.run(last);
        }
        all.stop = true;
        if (all.ends.containsKey(name)) {
            all.ends.get(name).run();
        }
        partner.await();
        System.err.println(name + ": done " + all.done + ", refused " + refused);
        boolean ours = !all.neverRefused.contains(name);
        if (all.failed.get() != null || all.done == 0 || ours && (all.done <= ROUNDS || refused == 0)) {
            throw new AssertionError(name + ": done " + all.done + ", refused " + refused, all.failed.get());
        }
        assertEquals(List.of(), Invariants.sample(s), name);
    }

    /** The first time with just enough room, or all of it, then with less and less. */
    private void sweep(Runnable op, boolean fresh) {
        for (long end = System.nanoTime() + WARM * 1_000_000L; System.nanoTime() < end;) {
            at(Long.MAX_VALUE, op, fresh);
        }
        for (int round = 0; round < ROUNDS; round++) {
            for (long room = 2 * Headroom.toTake() + 2048 - round * SHIFT; room > -1024;
                    room -= Math.max(LEAST_STEP, room / SHARE)) {
                try {
                    at(room, op, fresh);
                } catch (StackOverflowError e) {
                    refused++;
                }
                if (goroutine && M.LOCKS.getOpaque(GStack.current().machine().mp) != 0) {
                    throw new AssertionError("m.locks is not 0 after " + room);
                }
            }
        }
    }

    private void at(long room, Runnable op, boolean fresh) {
        if (fresh) {
            all.gmp.run(() -> at(room, op, false));
            return;
        }
        long _ = descend(op, room, 2, 3);
    }

    private long descend(Runnable op, long room, long a, long b) {
        long left = Headroom.left();
        if (left > room) {
            int sure = (int) ((left - room) / LARGEST_FRAME);
            return sure < 8 ? descend(op, room, b, a) + a * b : fast(op, room, sure - 4, b, a) + a * b;
        }
        op.run();
        all.done++;
        return a;
    }

    /** So many frames without a look, which takes time, and much of a frame where a compiler inlines it. */
    private long fast(Runnable op, long room, int frames, long a, long b) {
        return frames == 0 ? descend(op, room, b, a) + a * b : fast(op, room, frames - 1, b, a) + a * b;
    }
}
