// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.synctest;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.proc.GStack;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.timer.TimeBubble;

/**
 * Tests of concurrent code with a virtual clock, exact and without waiting.
 *
 * <pre>{@code
 * @Test
 * void timesOut() {
 *     Synctest.test(() -> {
 *         Context ctx = Context.background().withTimeout(Duration.ofHours(5));
 *         Go.sleep(Duration.ofHours(5).minusNanos(1));
 *         Synctest.await();
 *         assertNull(ctx.err());
 *         Go.sleep(Duration.ofNanos(1));
 *         Synctest.await();
 *         assertSame(Context.DEADLINE_EXCEEDED, ctx.err());
 *     });
 * }
 * }</pre>
 *
 * <p>{@link #test} runs a function in a bubble: a goroutine, and all goroutines that those in the bubble start by {@code Go.go},
 * {@code WaitGroup.go}, {@code Time.afterFunc} and {@code Context}. {@code Go.sleep}, {@code org.gmp4j.time} and
 * {@code org.gmp4j.context} go by the bubble's clock in there, and {@link #now} reads it; {@code Instant.now} and
 * {@code System.nanoTime} do not. It begins at 2000-01-01T00:00:00Z and stands still while any goroutine of the bubble runs. When all
 * are durably blocked it jumps to the next timer or sleep. It does not move on once the first goroutine has ended: the others are to end
 * at that time, or are reported as blocked for ever.
 *
 * <p>A goroutine is durably blocked in a channel operation, a select, a sleep, a wait for a WaitGroup, Cond or Semaphore, and in {@link
 * #await}: in waits that another goroutine of the bubble ends. It is not in a lock, in the JDK, in a system call, or on a channel that was
 * made outside the bubble, unless for a limited time: while a goroutine waits for such a thing the clock stands still, even if a timer
 * stands beside it in a select.
 *
 * <p>A channel or a timer that was made in the bubble is for its goroutines alone, since the clock does not wait for others:
 * they get an {@link IllegalStateException}, "send on synctest channel from outside bubble", say, or "stop of synctest timer
 * from outside bubble". So does a cancel from outside, of a context whose channel was made in the bubble or of one that such
 * a context is derived from.
 *
 * <p>{@link #test} may be called by any thread and waits for the bubble, whatever interrupts come; {@link #await} and
 * {@link #now} belong to goroutines of a bubble.
 */
public final class Synctest {
    private Synctest() {
    }

    /**
     * Runs {@code f} in a new bubble and waits until all goroutines in it have ended. If one throws, this rethrows it at once, and the
     * others and their threads are left behind, wherever they run or wait. From any thread, but not from inside a
     * bubble.
     *
     * <p>Any thread may call it. An interrupt does not end the wait for the bubble, and is still there afterwards.
     *
     * @throws IllegalStateException "deadlock: all goroutines in bubble are blocked", or "deadlock: main bubble goroutine has exited
     *         but blocked goroutines remain", with their stacks; they and their threads are left behind
     */
    public static void test(Runnable f) {
        Objects.requireNonNull(f, "f");
        if (TimeBubble.current() != null) {
            throw new IllegalStateException("synctest.Run called from within a synctest bubble");
        }
        GStack.checkAll(); // Once started it must be waited for.
        Throwable[] thrown = new Throwable[1];
        Thread driver = Thread.ofPlatform().name("synctest").unstarted(() -> {
            try {
                drive(f);
            } catch (Throwable t) {
                thrown[0] = t;
            }
        });
        driver.start();
        join(driver);
        if (thrown[0] != null) {
            throw Synctest.<RuntimeException>sneaky(thrown[0]);
        }
    }

    private static void drive(Runnable f) {
        Gmp gmp = Gmp.builder().build();
        TimeBubble b = new TimeBubble();
        gmp.go(b.wrap(() -> {
            Go.defer(b::mainEnds);
            f.run();
        }));
        b.drive();
        if (b.failure() != null) {
            gmp.close(Duration.ZERO); // Others may wait for the one that failed: they are left.
            throw Synctest.<RuntimeException>sneaky(b.failure());
        }
        if (b.deadlocked()) {
            throw new IllegalStateException((b.mainEnded()
                    ? "deadlock: main bubble goroutine has exited but blocked goroutines remain"
                    : "deadlock: all goroutines in bubble are blocked") + "\n\n" + gmp.dump());
        }
        gmp.close();
        b.close();
    }

    private static void join(Thread t) {
        boolean interrupted = false;
        boolean deep = GStack.pinIfDeep();
        try {
            while (t.isAlive()) {
                try {
                    t.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (deep) {
                JdkThreads.unpin();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Waits until every other goroutine of the bubble is durably blocked; the clock does not move meanwhile. What they did before
     * happens before the return.
     *
     * <p>For goroutines of a bubble alone, no other threads. An interrupt does not end this wait.
     *
     * @throws IllegalStateException "goroutine is not in a bubble", or "wait already in progress" when another does
     */
    public static void await() {
        TimeBubble b = bubble();
        if (!b.await()) {
            throw new IllegalStateException("wait already in progress");
        }
    }

    /**
     * The bubble's time.
     *
     * @throws IllegalStateException "goroutine is not in a bubble"
     */
    public static Instant now() {
        TimeBubble _ = bubble();
        return TimeBubble.instant();
    }

    private static TimeBubble bubble() {
        TimeBubble b = TimeBubble.current();
        if (b == null) {
            throw new IllegalStateException("goroutine is not in a bubble");
        }
        return b;
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> RuntimeException sneaky(Throwable t) throws T {
        throw (T) t;
    }
}
