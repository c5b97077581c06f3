// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.LocatableEvent;
import com.sun.jdi.event.StepEvent;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.EventRequestManager;
import com.sun.jdi.request.StepRequest;
import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The JDK's tools look at goroutines that run, yield and park at full speed: nothing hangs, and no result is wrong. */
class ToolsTest {
    private static final long SECONDS = 60;
    private static final int ROUNDS = 5;
    private static final long EVENT_MILLIS = 5_000;
    /** What HotSpot writes below its threads. */
    private static final String END_OF_DUMP = "JNI global refs";

    /** Goroutines and virtual threads that hand numbers on, in order, by every kind of switch; and two that wait. */
    static final class Work implements AutoCloseable {
        private static final int PAIRS = 3;

        final TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofMillis(1)));
        final Set<Thread> working = ConcurrentHashMap.newKeySet();
        final Set<Thread> parked = ConcurrentHashMap.newKeySet();
        private final AtomicBoolean stop = new AtomicBoolean();
        private final AtomicLong sent = new AtomicLong();
        private final AtomicLong received = new AtomicLong();
        private final Chan<Integer> never = Chan.make();

        /**
         * Begins.
         *
         * @param threads whether ordinary virtual threads work too. Not for thread dumps to a file: JDK 25.0.3 crashes on one
         *     that moves meanwhile, on its own scheduler as well; goroutines are held while it looks
         */
        Work(boolean threads) {
            gmp.go(this::parkedHere);
            gmp.gmp.threadFactory().newThread(this::parkedHere).start();
            for (int i = 0; i < PAIRS; i++) {
                Chan<Long> c = Chan.make(i);
                gmp.go(() -> producer(c));
                if (threads) {
                    gmp.gmp.threadFactory().newThread(() -> consumer(c)).start();
                } else {
                    gmp.go(() -> consumer(c));
                }
            }
            while (parked.size() < 2 || parked.stream().anyMatch(t -> t.getState() != Thread.State.WAITING)) {
                Thread.onSpinWait();
            }
        }

        private void parkedHere() {
            parked.add(Thread.currentThread());
            never.recv();
        }

        private void producer(Chan<Long> c) {
            working.add(Thread.currentThread());
            long n = 0;
            while (!stop.get()) {
                c.send(n++);
                change(n);
            }
            c.close();
            sent.addAndGet(n);
            working.remove(Thread.currentThread());
        }

        private void consumer(Chan<Long> c) {
            working.add(Thread.currentThread());
            long expected = 0;
            for (long v : c) {
                assertEquals(expected++, v);
                change(v);
            }
            received.addAndGet(expected);
            working.remove(Thread.currentThread());
        }

        private synchronized void locked(long n) {
            if (n % 2 == 0) {
                Thread.yield();
            }
        }

        private void change(long n) {
            switch ((int) (n % 64)) {
                case 0 -> Thread.yield();
                case 10 -> LockSupport.parkNanos(1_000);
                case 20 -> Go.sleep(Duration.ofNanos(1_000));
                case 30 -> locked(n);
                case 40 -> Go.go(() -> locked(n));
                case 50 -> spin();
                default -> {
                    if (n % 3 == 0) {
                        Go.gosched();
                    }
                }
            }
        }

        private static void spin() {
            for (int i = 0; i < 10_000; i++) {
                Thread.onSpinWait();
            }
        }

        /** Waits until everybody has got further. */
        void goesOn() {
            long n = gmp.gmp.numGoroutine();
            assertTrue(n >= 2 * PAIRS, () -> "only " + n + " goroutines are left");
            Chan<Integer> c = Chan.make();
            gmp.go(() -> c.send(1));
            assertEquals(1, c.recv());
        }

        @Override
        public void close() {
            stop.set(true);
            never.close();
            while (!working.isEmpty()) {
                Thread.onSpinWait();
            }
            gmp.check();
            gmp.close();
            assertTrue(sent.get() > 0);
            assertEquals(sent.get(), received.get());
        }
    }

    private static boolean has(StackTraceElement[] stack, String method) {
        return Arrays.stream(stack).anyMatch(e -> e.getClassName().equals(Work.class.getName())
                && e.getMethodName().equals(method));
    }

    /** A stack is whole or, of a thread that has not begun or has ended, empty; a parked one is always there. */
    @Stress
    void stackTraces() {
        try (Work work = new Work(true)) {
            for (int i = 0; i < 500; i++) {
                for (Thread t : work.parked) {
                    StackTraceElement[] stack = t.getStackTrace();
                    assertEquals(Thread.State.WAITING, t.getState());
                    assertTrue(has(stack, "parkedHere"), () -> Arrays.toString(stack));
                    assertTrue(Arrays.stream(stack).anyMatch(e -> e.getMethodName().equals("recv")));
                }
                for (Thread t : work.working) {
                    StackTraceElement[] stack = t.getStackTrace();
                    assertTrue(has(stack, "producer") || has(stack, "consumer"), () -> Arrays.toString(stack));
                }
                if (i % 10 == 0) {
                    Map<Thread, StackTraceElement[]> all = Thread.getAllStackTraces(); // Of the Ms.
                    assertTrue(all.keySet().stream().anyMatch(t -> t.getName().matches("gmp\\d+-M\\d+")));
                    assertTrue(all.keySet().stream().noneMatch(Thread::isVirtual));
                }
            }
            work.goesOn();
        }
    }

    @Test
    void dumpsByTheBean(@TempDir Path dir) throws IOException {
        HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        try (Work work = new Work(false)) {
            for (int i = 0; i < 20; i++) {
                for (ThreadDumpFormat format : ThreadDumpFormat.values()) {
                    Path file = dir.resolve("threads" + i + format);
                    vm.dumpThreads(file.toString(), format);
                    shown(file);
                }
            }
            Path heap = dir.resolve("heap.hprof");
            vm.dumpHeap(heap.toString(), true);
            try (var in = Files.newInputStream(heap)) {
                assertEquals("JAVA PROFILE", new String(in.readNBytes(12), StandardCharsets.US_ASCII));
            }
            work.goesOn();
        }
    }

    /** The dump has the thread of the factory that waits, as the JDK lists the threads that it started, and the goroutine that does. */
    private static void shown(Path dump) throws IOException {
        String text = Files.readString(dump);
        assertTrue(Pattern.compile("\"goroutine \\d+ \\[chan receive]\"").matcher(text).find(), text);
        int at = text.indexOf("ToolsTest$Work.parkedHere");
        assertTrue(at > 0, text);
        int begin = Math.max(text.lastIndexOf("\"tid\"", at), text.lastIndexOf("\n#", at));
        assertTrue(text.substring(begin, at).contains("WAITING"), () -> text.substring(begin, at));
    }

    private static String tool(String name, String... args) throws Exception {
        String[] command = new String[args.length + 1];
        command[0] = Path.of(System.getProperty("java.home"), "bin", name).toString();
        System.arraycopy(args, 0, command, 1, args.length);
        Path out = Files.createTempFile("gmp", ".txt");
        Process p = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
        try {
            assertTrue(p.waitFor(SECONDS, TimeUnit.SECONDS), () -> "hangs: " + Arrays.toString(command));
            String text = Files.readString(out);
            assertEquals(0, p.exitValue(), text);
            return text;
        } finally {
            p.destroyForcibly();
            Files.delete(out);
        }
    }

    /** Sends itself SIGQUIT again and again, and goes on when its output, a file, has the threads. */
    static final class Quit {
        private static final Path OUT = Path.of("/proc/self/fd/1");

        private Quit() {
        }

        public static void main(String[] args) throws Exception {
            String pid = String.valueOf(ProcessHandle.current().pid());
            try (Work work = new Work(true)) {
                for (int i = 1; i <= ROUNDS; i++) {
                    assertEquals(0, new ProcessBuilder("kill", "-QUIT", pid).start().waitFor());
                    while (Files.readString(OUT).split(END_OF_DUMP, -1).length <= i) {
                        work.goesOn();
                    }
                }
            }
        }
    }

    @Test
    void sigquit() {
        ChildJvm.Result r = new ChildJvm(Quit.class).run();
        assertEquals(0, r.exit(), r::toString);
        assertTrue(r.out().contains("-M0\"") && r.out().contains("-sysmon\""), r::toString);
    }

    @Test
    void jcmd(@TempDir Path dir) throws Exception {
        String pid = String.valueOf(ProcessHandle.current().pid());
        try (Work work = new Work(false)) {
            for (int i = 0; i < 3; i++) {
                String threads = tool("jcmd", pid, "Thread.print");
                assertTrue(threads.contains("-M0\""), threads);
                Path text = dir.resolve("threads" + i + ".txt");
                tool("jcmd", pid, "Thread.dump_to_file", text.toString());
                shown(text);
                Path json = dir.resolve("threads" + i + ".json");
                tool("jcmd", pid, "Thread.dump_to_file", "-format=json", json.toString());
                shown(json);
                assertTrue(tool("jcmd", pid, "Thread.vthread_scheduler").length() > 0);
            }
            Path heap = dir.resolve("heap.hprof");
            tool("jmap", "-dump:live,format=b,file=" + heap, pid);
            assertTrue(Files.size(heap) > 0);
            work.goesOn();
        }
    }

    @Test
    void flightRecorder(@TempDir Path dir) throws Exception {
        Path file = dir.resolve("recording.jfr");
        try (Recording r = new Recording()) {
            r.enable("jdk.VirtualThreadStart");
            r.enable("jdk.VirtualThreadEnd");
            r.enable("jdk.VirtualThreadPinned").withoutThreshold();
            r.enable("jdk.ThreadPark").withoutThreshold();
            r.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(1));
            r.start();
            try (Work work = new Work(true)) {
                work.gmp.run(() -> {
                    for (int i = 0; i < 20; i++) {
                        PinningCall.run(() -> LockSupport.parkNanos(1_000_000));
                        long end = System.nanoTime() + 10_000_000; // Something to sample.
                        while (System.nanoTime() < end) {
                            Work.spin();
                        }
                    }
                });
                work.goesOn();
            }
            r.stop();
            r.dump(file);
        }
        Map<String, Long> seen = new ConcurrentHashMap<>();
        boolean sampled = false;
        for (RecordedEvent e : RecordingFile.readAllEvents(file)) {
            seen.merge(e.getEventType().getName(), 1L, Long::sum);
            sampled |= e.getEventType().getName().equals("jdk.ExecutionSample") && e.getStackTrace() != null
                    && e.getStackTrace().getFrames().stream().anyMatch(f -> f.getMethod().getType().getName()
                            .startsWith(Work.class.getName()));
        }
        assertTrue(seen.getOrDefault("jdk.VirtualThreadStart", 0L) >= 4, seen::toString);
        assertTrue(seen.getOrDefault("jdk.VirtualThreadEnd", 0L) >= 4, seen::toString);
        assertTrue(seen.getOrDefault("jdk.VirtualThreadPinned", 0L) >= 1, seen::toString);
        assertTrue(sampled, () -> "no sample of a goroutine in " + seen);
    }

    /** What the debugger attaches to: works until its input ends. */
    static final class Debuggee {
        private Debuggee() {
        }

        public static void main(String[] args) throws IOException {
            try (Work work = new Work(true)) {
                work.goesOn();
                System.out.println("works");
                while (System.in.read() >= 0) {
                    work.goesOn();
                }
            }
            System.out.println("right");
        }
    }

    private static VirtualMachine attach(String port) throws Exception {
        AttachingConnector socket = Bootstrap.virtualMachineManager().attachingConnectors().stream()
                .filter(c -> c.name().equals("com.sun.jdi.SocketAttach")).findFirst().orElseThrow();
        Map<String, Connector.Argument> args = socket.defaultArguments();
        args.get("hostname").setValue("127.0.0.1");
        args.get("port").setValue(port);
        return socket.attach(args);
    }

    @Test
    void debugger() throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java")
                .toString()));
        command.addAll(ChildJvm.FLAGS);
        command.addAll(List.of("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0", "-cp",
                System.getProperty("java.class.path"), Debuggee.class.getName()));
        Process p = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader out = p.inputReader()) {
            String listening = out.readLine();
            assertTrue(listening.startsWith("Listening for transport dt_socket"), listening);
            assertEquals("works", out.readLine());
            VirtualMachine vm = attach(listening.replaceAll(".*[ :]", ""));
            suspendAndResume(vm);
            assertTrue(stepThrough(vm, "producer") + stepThrough(vm, "consumer") > 0, "no step was made");
            suspendAndResume(vm);
            vm.dispose();
            p.getOutputStream().close();
            assertTrue(p.waitFor(SECONDS, TimeUnit.SECONDS), "hangs after the debugger has left");
            assertEquals("right", out.lines().toList().getLast()); // Before it, that it listens for the next debugger.
            assertEquals(0, p.exitValue());
        } finally {
            p.destroyForcibly();
        }
    }

    /**
     * Suspends everything and reads every thread's stack, many times.
     *
     * <p>The JDK refuses a thread that it has missed: one that is just starting, with plain threads as well, or a carrier in
     * the middle of a switch. The main thread waits for input throughout, and must be readable each time; Ms at times.
     */
    private static void suspendAndResume(VirtualMachine vm) throws Exception {
        Set<String> ms = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            vm.suspend();
            boolean main = false;
            for (ThreadReference t : vm.allThreads()) {
                try {
                    boolean read = t.frameCount() > 0;
                    main |= read && t.name().equals("main");
                    if (read && t.name().matches("gmp.*-M\\d+")) {
                        ms.add(t.name());
                    }
                } catch (IncompatibleThreadStateException e) {
                    assertFalse(t.name().equals("main"), "the main thread was not suspended");
                }
            }
            assertTrue(main, "the main thread is gone");
            vm.resume();
        }
        assertTrue(ms.size() >= 2, () -> "of two Ms at least: " + ms);
    }

    /**
     * Stops in the method, on whatever goroutine comes, and steps on from there; some times.
     *
     * <p>An event that does not come ends the round: the JDK loses one now and then when a virtual thread moves, on its own
     * scheduler as well. What counts is that the program goes on, and ends with the right result.
     *
     * @return how many steps were made
     */
    private static int stepThrough(VirtualMachine vm, String method) throws Exception {
        EventRequestManager requests = vm.eventRequestManager();
        ReferenceType type = vm.classesByName(Work.class.getName()).getFirst();
        List<Location> lines = type.methodsByName(method).getFirst().allLineLocations();
        int steps = 0;
        for (int round = 0; round < ROUNDS; round++) {
            BreakpointRequest stop = requests.createBreakpointRequest(lines.get(lines.size() / 2));
            stop.setSuspendPolicy(round % 2 == 0 ? EventRequest.SUSPEND_ALL : EventRequest.SUSPEND_EVENT_THREAD);
            stop.addCountFilter(1);
            stop.enable();
            Event at = next(vm, BreakpointEvent.class);
            for (int i = 0; i < ROUNDS && at instanceof LocatableEvent here; i++) {
                ThreadReference t = here.thread();
                assertTrue(t.isVirtual());
                assertTrue(t.frameCount() > 0);
                assertEquals(here.location(), t.frame(0).location());
                StepRequest step = requests.createStepRequest(t, StepRequest.STEP_LINE, StepRequest.STEP_OVER);
                step.addCountFilter(1);
                step.setSuspendPolicy(EventRequest.SUSPEND_ALL);
                step.enable();
                vm.resume();
                at = next(vm, StepEvent.class);
                requests.deleteEventRequest(step);
                steps += at == null ? 0 : 1;
            }
            requests.deleteEventRequest(stop);
            vm.resume();
        }
        return steps;
    }

    /** The next event of a kind, or null. */
    private static Event next(VirtualMachine vm, Class<? extends Event> kind) throws InterruptedException {
        for (EventSet set = vm.eventQueue().remove(EVENT_MILLIS); set != null;
                set = vm.eventQueue().remove(EVENT_MILLIS)) {
            for (Event e : set) {
                if (kind.isInstance(e)) {
                    return e;
                }
            }
            set.resume();
        }
        return null;
    }
}
