// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import jdk.internal.vm.ThreadDumper;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Goroutines in the JDK's thread dumps, which list the containers of threads: {@code jcmd PID Thread.dump_to_file}. */
class ThreadDumpTest {
    private static final int MANY = 200;
    private static final int ROUNDS = 30;
    private static final long NAP_NANOS = 200_000;
    /** The number of bytes after which a dump of {@link #MANY} goroutines has come to some of them. */
    private static final int MIDST = 30_000;
    private static final Pattern CONTAINER = Pattern.compile("\"container\": \"(.*)\",\\s+\"parent\": \"?(.*?)\"?,\\s+"
            + "\"owner\": \"?(.*?)\"?,");
    private static final Pattern THREAD = Pattern.compile("\"tid\": \"?(\\d+)\"?,(?s:.*?)\"name\": \"(.*)\",");

    /** One container of a dump: the text of it, its threads by number. */
    private record Container(String name, String parent, String owner, String text) {
        List<Long> threads() {
            return THREAD.matcher(text).results().map(r -> Long.valueOf(r.group(1))).toList();
        }

        String nameOf(Thread t) {
            return THREAD.matcher(text).results().filter(r -> r.group(1).equals(String.valueOf(t.threadId())))
                    .map(r -> r.group(2)).findFirst().orElseThrow();
        }
    }

    private static List<Container> dump() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ThreadDumper.dumpThreadsToJson(out);
        String text = out.toString(StandardCharsets.UTF_8).replace("\\/", "/");
        List<Container> all = new ArrayList<>();
        Matcher m = CONTAINER.matcher(text);
        for (boolean found = m.find(); found;) {
            String[] of = {m.group(1), m.group(2), m.group(3)};
            int from = m.end();
            found = m.find();
            all.add(new Container(of[0], of[1], of[2], text.substring(from, found ? m.start() : text.length())));
        }
        return all;
    }

    private static String text() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ThreadDumper.dumpThreads(out);
        return out.toString(StandardCharsets.UTF_8);
    }

    /** The one container that has the thread. */
    private static Container of(List<Container> all, Thread t) {
        List<Container> with = all.stream().filter(c -> c.threads().contains(t.threadId())).toList();
        assertEquals(1, with.size(), () -> t + " is in " + with);
        return with.getFirst();
    }

    /** A goroutine that receives once, and its thread, once it waits. */
    private static Thread receiver(TestGmp gmp, Chan<Integer> from) {
        AtomicReference<Thread> t = new AtomicReference<>();
        gmp.go(() -> {
            t.set(Thread.currentThread());
            from.recv();
        });
        return waiting(t);
    }

    private static Thread waiting(AtomicReference<Thread> t) {
        while (t.get() == null || t.get().getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return t.get();
    }

    @Test
    void goroutinesAndTheirScopes() throws IOException {
        String container;
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            Thread receiver = receiver(gmp, c);
            CountDownLatch end = new CountDownLatch(1);
            AtomicReference<Thread> owner = new AtomicReference<>();
            AtomicReference<Thread> forked = new AtomicReference<>();
            gmp.go(() -> {
                try (Scope scope = new Scope()) {
                    scope.fork(() -> {
                        forked.set(Thread.currentThread());
                        end.await();
                        return 1;
                    });
                    owner.set(Thread.currentThread());
                    scope.join();
                }
            });
            Thread identity = gmp.gmp.threadFactory().newThread(() -> c.recv());
            identity.start();
            waiting(owner);
            waiting(forked);
            waiting(new AtomicReference<>(identity));

            List<Container> all = dump();
            Container ours = of(all, receiver);
            container = ours.name;
            assertTrue(container.matches("gmp\\d+/.*"), container);
            assertEquals("<root>", ours.parent);
            assertEquals("null", ours.owner);
            assertTrue(ours.nameOf(receiver).matches("goroutine \\d+ \\[chan receive]"), ours.nameOf(receiver));
            assertTrue(ours.text.contains("ThreadDumpTest.lambda$receiver"), ours.text);
            assertEquals(ours, of(all, owner.get()));
            Container scope = of(all, forked.get());
            assertEquals(String.valueOf(owner.get().threadId()), scope.owner);
            assertEquals(container, scope.parent);
            assertEquals("<root>", of(all, identity).name);
            assertEquals(2, ours.threads().size(), ours.text);

            String text = text();
            for (Thread t : List.of(receiver, owner.get(), forked.get(), identity)) {
                assertEquals(2, text.split("\n#" + t.threadId() + " ").length, text);
                assertEquals("", t.getName());
            }
            end.countDown();
            c.send(1);
            c.send(2);
            gmp.check();
        }
        assertTrue(dump().stream().noneMatch(c -> c.name.equals(container)), "still there after close");
    }

    /** A scope left open waits for its threads when the goroutine ends, and is not the next goroutine's. */
    @Test
    void aScopeLeftOpen() throws IOException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            for (int i = 0; i < 3; i++) {
                AtomicBoolean done = new AtomicBoolean();
                gmp.run(() -> {
                    Scope scope = new Scope();
                    scope.fork(() -> {
                        Go.sleep(Duration.ofMillis(1));
                        done.set(true);
                        return 1;
                    });
                });
                assertTrue(done.get());
            }
            Chan<Integer> c = Chan.make();
            Thread next = receiver(gmp, c);
            List<Container> all = dump();
            assertTrue(all.stream().noneMatch(o -> o.owner.equals(String.valueOf(next.threadId()))), all::toString);
            c.send(1);
        }
    }

    /** Dumps of goroutines that switch all the time, from a plain thread and from one of them. */
    @Stress
    void whileTheyMove() throws Exception {
        for (int procs = 1; procs <= 2; procs++) {
            try (TestGmp gmp = TestGmp.procs(procs)) {
                AtomicBoolean stop = new AtomicBoolean();
                WaitGroup wg = new WaitGroup();
                gmp.run(() -> {
                    for (int i = 0; i < 8; i++) {
                        int how = i;
                        wg.go(() -> {
                            while (!stop.get()) {
                                move(how);
                            }
                        });
                    }
                });
                Set<String> seen = new HashSet<>();
                Threads others = new Threads().add("dumper", () -> { // It may hold a goroutine that begins a dump.
                    while (!stop.get()) {
                        List<Container> _ = dump();
                    }
                }).add("dumps", () -> { // Two goroutines that dump may hold each other.
                    while (!stop.get()) {
                        List<Container> _ = gmp.call(ThreadDumpTest::dump);
                    }
                }).start();
                for (int i = 0; i < 20; i++) {
                    List<Container> all = i % 2 == 0 ? dump() : gmp.call(ThreadDumpTest::dump);
                    all.stream().filter(c -> c.name.startsWith("gmp")).forEach(c -> {
                        List<Long> threads = c.threads();
                        assertEquals(threads.size(), new HashSet<>(threads).size(), c.text);
                        THREAD.matcher(c.text).results().forEach(r -> seen.add(r.group(2).replaceAll("\\d+", "N")));
                    });
                    String _ = text();
                }
                stop.set(true);
                others.join();
                gmp.run(wg::await);
                gmp.check();
                assertTrue(seen.stream().anyMatch(s -> s.matches("goroutine N \\[.*]")), seen::toString);
            }
        }
    }

    private static void move(int how) {
        long end = System.nanoTime() + (how < 4 ? 0 : 20_000); // Some are nearly always mounted.
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        switch (how % 4) {
            case 0 -> Go.gosched();
            case 1 -> Thread.yield();
            case 2 -> LockSupport.parkNanos(1_000);
            default -> Go.sleep(Duration.ofNanos(1_000));
        }
    }

    /** What a dump is written to: nothing more comes through after so many bytes. */
    private static final class Stuck extends OutputStream {
        final CountDownLatch stuck = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        private final int room;
        private final boolean fails;
        private int n;

        Stuck(int room, boolean fails) {
            this.room = room;
            this.fails = fails;
        }

        @Override
        public void write(int b) throws IOException {
            if (++n == room) {
                stuck.countDown();
                if (fails) {
                    throw new IOException("full");
                }
                try {
                    goOn.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
        }
    }

    /** How goroutines wait during a dump, and how they are woken. */
    private enum Wait {
        PARK {
            @Override
            void begin(Waits of) {
                while (!of.over) {
                    LockSupport.park();
                }
            }

            @Override
            void end(Waits of) {
                of.threads.forEach(LockSupport::unpark);
            }
        },
        RECV {
            @Override
            void begin(Waits of) {
                of.chan.recv();
            }

            @Override
            void end(Waits of) {
                of.chan.close();
            }
        },
        MONITOR {
            @Override
            void begin(Waits of) {
                synchronized (of) {
                    of.woken++;
                }
            }
        },
        NOTIFY {
            @Override
            void begin(Waits of) {
                of.await(0);
            }

            @Override
            void end(Waits of) {
                synchronized (of) {
                    of.notifyAll();
                }
            }
        },
        NOTIFY_BEFORE_LIMIT {
            @Override
            void begin(Waits of) {
                of.await(LONG);
            }

            @Override
            void end(Waits of) {
                NOTIFY.end(of);
            }
        },
        LIMIT {
            @Override
            void begin(Waits of) {
                of.await(SHORT);
            }
        },
        INTERRUPT {
            @Override
            void begin(Waits of) {
                of.await(0);
                assertTrue(Thread.interrupted());
            }

            @Override
            void end(Waits of) {
                of.threads.forEach(Thread::interrupt);
            }
        };

        private static final long SHORT = 100; // ms
        private static final long LONG = 1_000_000;

        abstract void begin(Waits of);

        void end(Waits of) {
        }
    }

    /** What the goroutines of a test wait for. */
    private static final class Waits {
        final Set<Thread> threads = ConcurrentHashMap.newKeySet();
        final Chan<Integer> chan = Chan.make();
        volatile boolean over;
        int woken;

        /** Waits in steps of so many ms, 0 for no limit, until the end or an interrupt. */
        synchronized void await(long millis) {
            try {
                while (!over) {
                    wait(millis);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        boolean allWait() {
            return threads.size() == MANY && threads.stream().map(Thread::getState).allMatch(t -> t == Thread.State.WAITING
                    || t == Thread.State.TIMED_WAITING || t == Thread.State.BLOCKED);
        }
    }

    static Stream<Arguments> waits() {
        return Stream.of(Wait.values()).flatMap(how -> Stream.of(arguments(how, false), arguments(how, true)));
    }

    /** A dump that waits for a disk, or gives up in the middle, holds no goroutine, however that waits and is to be woken. */
    @ParameterizedTest
    @MethodSource("waits")
    void nothingIsHeldWhileItIsWritten(Wait how, boolean fails) throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Waits of = new Waits();
            WaitGroup wg = new WaitGroup();
            Stuck out = new Stuck(MIDST, fails);
            AtomicReference<IOException> failed = new AtomicReference<>();
            Thread dumper = Thread.ofPlatform().unstarted(() -> {
                try {
                    ThreadDumper.dumpThreadsToJson(out);
                } catch (IOException e) {
                    failed.set(e);
                }
            });
            synchronized (how == Wait.MONITOR ? of : out) {
                gmp.run(() -> {
                    for (int i = 0; i < MANY; i++) { // One of these is just looked at when writing stops.
                        wg.go(() -> {
                            of.threads.add(Thread.currentThread());
                            how.begin(of);
                        });
                    }
                });
                while (!of.allWait()) {
                    Thread.onSpinWait();
                }
                dumper.start();
                out.stuck.await();
                of.over = true;
                how.end(of);
            }
            gmp.run(wg::await);
            out.goOn.countDown();
            dumper.join();
            assertEquals(fails, failed.get() != null);
            gmp.check();
        }
        awaitWatcher();
    }

    /** A goroutine that has made a dump is in the next one, also while it waits for input. A dump that failed is over a moment later. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aDumpIsOver(boolean fails) throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            for (int i = 0; i < MANY; i++) {
                gmp.go(c::recv);
            }
            for (int i = 0; i < ROUNDS; i++) {
                try (PipedOutputStream end = new PipedOutputStream(); PipedInputStream in = new PipedInputStream(end)) {
                    AtomicReference<Thread> reader = new AtomicReference<>();
                    gmp.go(() -> {
                        try {
                            if (fails) {
                                Stuck out = new Stuck(MIDST, true);
                                assertThrows(IOException.class, () -> ThreadDumper.dumpThreadsToJson(out));
                            } else {
                                List<Container> _ = dump();
                            }
                            reader.set(Thread.currentThread());
                            assertEquals(-1, in.read());
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    });
                    while (reader.get() == null || reader.get().getState() != Thread.State.TIMED_WAITING) {
                        Thread.onSpinWait();
                    }
                    List<Container> next = dump();
                    while (fails && next.stream().noneMatch(d -> d.threads().contains(reader.get().threadId()))) {
                        next = dump();
                    }
                    assertTrue(of(next, reader.get()).nameOf(reader.get()).startsWith("goroutine "));
                }
            }
            c.close();
            gmp.check();
        }
    }

    /** A dump that a goroutine writes may fail at the goroutine's own entry, while no stack is held. */
    @Test
    void itsOwnEntryFails() {
        AtomicBoolean failed = new AtomicBoolean();
        OutputStream out = new OutputStream() {
            @Override
            public void write(int b) {
                throw new AssertionError();
            }

            @Override
            public void write(byte[] b, int from, int n) throws IOException {
                if (new String(b, from, n, StandardCharsets.UTF_8).contains("ThreadDumpTest.deep")) {
                    failed.set(true);
                    throw new IOException("full");
                }
            }
        };
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> assertThrows(IOException.class, () -> deep(500, out)));
        }
        assertTrue(failed.get());
        awaitWatcher();
    }

    /** Dumps with so many frames below that the entry is written before the next thread is requested. */
    private static void deep(int frames, OutputStream out) throws IOException {
        if (frames == 0) {
            ThreadDumper.dumpThreadsToJson(out);
        } else {
            deep(frames - 1, out);
        }
    }

    /** Two goroutines that dump, and sleep in the midst of each other's entries, do not hold each other. */
    @Test
    void dumpersAreNotHeld() {
        OutputStream slow = new OutputStream() {
            @Override
            public void write(int b) {
                throw new AssertionError();
            }

            @Override
            public void write(byte[] b, int from, int n) {
                LockSupport.parkNanos(NAP_NANOS);
            }
        };
        try (TestGmp gmp = TestGmp.procs(2)) {
            WaitGroup wg = new WaitGroup();
            gmp.run(() -> {
                for (int i = 0; i < 2; i++) {
                    wg.go(() -> {
                        for (int j = 0; j < ROUNDS; j++) {
                            try {
                                deep(500, slow);
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        }
                    });
                }
            });
            gmp.run(wg::await);
            gmp.check();
        }
        awaitWatcher();
    }

    /** All dumps have one thread that checks them, which an interrupt does not end, nor keep awake. */
    @Test
    void oneThreadChecksAllDumps() throws IOException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Chan<Integer> c = Chan.make();
            Thread receiver = receiver(gmp, c);
            List<Container> _ = dump();
            Thread watcher = awaitWatcher();
            watcher.interrupt();
            assertSame(watcher, awaitWatcher());
            assertTrue(of(dump(), receiver).nameOf(receiver).startsWith("goroutine "));
            assertSame(watcher, awaitWatcher());
            c.send(1);
        }
    }

    /** Waits until the thread that checks dumps sleeps without a limit, as it does when there is no dump. */
    private static Thread awaitWatcher() {
        List<Thread> all = Thread.getAllStackTraces().keySet().stream().filter(t -> t.getName().equals("gmp-dump")).toList();
        assertEquals(1, all.size(), all::toString);
        Thread watcher = all.getFirst();
        while (watcher.isInterrupted() || watcher.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return watcher;
    }

    /** A preview in Java 25, so by reflection. */
    private static final class Scope implements AutoCloseable {
        private static final Class<?> TYPE;

        static {
            try {
                TYPE = Class.forName("java.util.concurrent.StructuredTaskScope");
            } catch (ClassNotFoundException e) {
                throw new AssertionError(e);
            }
        }

        private final Object scope = call(null, "open", new Class<?>[0]);

        private static Object call(Object on, String name, Class<?>[] types, Object... args) {
            try {
                Method m = TYPE.getMethod(name, types);
                return m.invoke(on, args);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        void fork(Callable<?> task) {
            Object _ = call(scope, "fork", new Class<?>[] {Callable.class}, task);
        }

        void join() {
            Object _ = call(scope, "join", new Class<?>[0]);
        }

        @Override
        public void close() {
            Object _ = call(scope, "close", new Class<?>[0]);
        }
    }
}
