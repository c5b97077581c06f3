// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.RecvChan;
import org.gmp4j.Select;
import org.gmp4j.context.Context;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.time.Ticker;
import org.gmp4j.time.Time;
import org.junit.jupiter.api.Test;

/** Programs that leak as programs do, each with what the leak report says of it: a state, or nothing and why. */
class LeakPatternsTest {
    private static final String NOTHING = "-";

    /** One of them: its code runs in a goroutine, and leaves as many others behind as {@code left} says. */
    private record Pattern(String name, int left, String found, Runnable code) {
    }

    private static final List<Pattern> ALL = List.of(
            new Pattern("forgotten-sender", 1, "chan send", LeakPatternsTest::forgottenSender),
            new Pattern("abandoned-after-timeout", 1, "chan send", LeakPatternsTest::abandonedAfterTimeout),
            new Pattern("missing-close", 1, "chan receive", LeakPatternsTest::missingClose),
            new Pattern("no-channel", 1, "chan receive (nil chan)", LeakPatternsTest::noChannel),
            new Pattern("double-lock", 1, "sync.Mutex.Lock", LeakPatternsTest::doubleLock),
            new Pattern("one-too-many", 1, "sync.WaitGroup.Wait", LeakPatternsTest::oneTooMany),
            new Pattern("context-not-cancelled", 1, "chan receive", LeakPatternsTest::contextNotCancelled),
            new Pattern("select-without-done", 1, "select", LeakPatternsTest::selectWithoutDone),
            new Pattern("return-on-error", 2, "chan send", LeakPatternsTest::returnOnError),
            new Pattern("stopped-ticker", 1, "chan receive", LeakPatternsTest::stoppedTicker),
            // The clock wakes it each time, and it may do something.
            new Pattern("ticker-not-stopped", 1, NOTHING, LeakPatternsTest::tickerNotStopped),
            // Something alive refers to the context, and could cancel it.
            new Pattern("context-of-the-server", 1, NOTHING, LeakPatternsTest::contextOfTheServer),
            // The context would end the wait, and nothing finds out what has it.
            new Pattern("wait-with-context", 1, NOTHING, LeakPatternsTest::waitWithContext),
            // A static field refers to the channel.
            new Pattern("forgotten-in-a-map", 1, NOTHING, LeakPatternsTest::forgottenInAMap),
            // A wait for a monitor says for what only to a debugger.
            new Pattern("never-notified", 1, NOTHING, LeakPatternsTest::neverNotified),
            new Pattern("lock-never-unlocked", 1, "park (ReentrantLock)", LeakPatternsTest::lockNeverUnlocked));

    private static final Map<String, Chan<Integer>> PENDING = new TreeMap<>();
    private static final Context SERVER = Context.background().withCancel();

    /** A result without a receiver. */
    private static void forgottenSender() {
        Chan<Integer> result = Chan.make();
        Go.go(() -> result.send(1));
        Chan<Integer> other = Chan.make(1);
        other.send(2);
        Object _ = Select.one().recv(other, v -> v).run(); // The first of two answers was enough.
    }

    /** The answer comes after the time is up. */
    private static void abandonedAfterTimeout() {
        Chan<Integer> answer = Chan.make();
        Chan<Integer> over = Chan.make();
        Go.go(() -> {
            Integer _ = over.recv();
            answer.send(1);
        });
        int _ = Select.of().recv(answer, v -> { }).timeout(Duration.ofMillis(1), () -> { }).run();
        over.close();
    }

    /** It goes on until the channel is closed, which never happens. */
    private static void missingClose() {
        Chan<Integer> work = Chan.make(4);
        Go.go(() -> {
            for (Integer w : work) {
                assertTrue(w < 3);
            }
        });
        for (int i = 0; i < 3; i++) {
            work.send(i);
        }
    }

    /** The field was never set. */
    private static void noChannel() {
        RecvChan<Integer> unset = null;
        Go.go(() -> Select.of().recv(unset, v -> { }).run());
    }

    /** A method that locks calls another that does. */
    private static void doubleLock() {
        Mutex m = new Mutex();
        Go.go(() -> {
            m.lock();
            m.lock();
        });
    }

    /** Two are awaited, and one was started. */
    private static void oneTooMany() {
        WaitGroup all = new WaitGroup();
        all.add(2);
        Go.go(all::done);
        Go.go(all::await);
    }

    /** Nothing refers to the context any more. */
    private static void contextNotCancelled() {
        Context ctx = Context.background().withCancel();
        Go.go(() -> ctx.done().recv());
    }

    /** A worker without a way out, whose channels nothing refers to. */
    private static void selectWithoutDone() {
        Chan<Integer> work = Chan.make();
        Chan<Integer> more = Chan.make();
        Go.go(() -> {
            while (true) {
                int _ = Select.of().recv(work, v -> { }).recv(more, v -> { }).run();
            }
        });
        work.send(1);
    }

    /** The first error ends the reading; the other results have no receiver. */
    private static void returnOnError() {
        Chan<String> errors = Chan.make();
        for (int i = 0; i < 3; i++) {
            Go.go(() -> errors.send("failed"));
        }
        String _ = errors.recv();
    }

    private static void stoppedTicker() {
        Ticker t = Time.newTicker(Duration.ofHours(1));
        Go.go(() -> readTicks(t.c()));
        t.stop();
    }

    private static void tickerNotStopped() {
        Ticker t = Time.newTicker(Duration.ofHours(1));
        Go.go(() -> readTicks(t.c()));
    }

    private static void readTicks(RecvChan<?> c) {
        while (true) {
            Object _ = c.recv();
        }
    }

    private static void contextOfTheServer() {
        Context ctx = SERVER.withCancel();
        Go.go(() -> ctx.done().recv());
    }

    private static void waitWithContext() {
        Context ctx = Context.background().withCancel();
        Chan<Integer> c = Chan.make();
        Go.go(() -> c.recvUnless(ctx));
    }

    private static void forgottenInAMap() {
        Chan<Integer> c = Chan.make();
        PENDING.put("42", c);
        Go.go(() -> c.recv());
    }

    private static void neverNotified() {
        Object monitor = new Object();
        Go.go(() -> {
            synchronized (monitor) {
                try {
                    monitor.wait();
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
    }

    /** The one that had it has ended. */
    private static void lockNeverUnlocked() {
        ReentrantLock lock = new ReentrantLock();
        WaitGroup begun = new WaitGroup();
        WaitGroup locked = new WaitGroup();
        begun.add(1);
        locked.add(1);
        Go.go(() -> {
            begun.done();
            locked.await();
            lock.lock();
        });
        begun.await(); // Now the one that leaks has a stack of its own; with that of the one that ended, it would have its lock too.
        Go.go(() -> {
            lock.lock();
            locked.done();
        });
    }

    /** Prints of each pattern what was found. */
    public static void main(String[] args) throws InterruptedException {
        for (Pattern p : ALL) {
            Gmp gmp = Gmp.builder().procs(2).build();
            gmp.run(p.code);
            while (gmp.numGoroutine() != p.left || gmp.goroutines().groups().stream().anyMatch(g -> g.state().startsWith("run")
                    || g.state().equals("sleep"))) {
                Thread.sleep(1);
            }
            List<String> states = new ArrayList<>();
            gmp.leaks().groups().forEach(g -> states.add(g.count() == 1 ? g.state() : g.state() + " x" + g.count()));
            System.out.println(p.name + ": " + (states.isEmpty() ? NOTHING : String.join(", ", states)));
        }
        System.exit(0);
    }

    @Test
    void whatIsFound() {
        StringBuilder expected = new StringBuilder();
        ALL.forEach(p -> expected.append(p.name).append(": ").append(p.found)
                .append(p.left == 1 || p.found.equals(NOTHING) ? "" : " x" + p.left).append('\n'));
        Result r = new ChildJvm(LeakPatternsTest.class).with("-Xmx64m").run();
        assertEquals(expected.toString(), r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** The page has a row for each. */
    @Test
    void thePageNamesThem() throws Exception {
        String page = Files.readString(Path.of("SEEING.md"));
        for (Pattern p : ALL) {
            String row = page.lines().filter(l -> l.contains("`" + p.name + "`")).findFirst().orElse("");
            assertTrue(row.contains(p.found.equals(NOTHING) ? "not found" : "`" + p.found + "`"), p.name + ": " + row);
        }
    }
}
