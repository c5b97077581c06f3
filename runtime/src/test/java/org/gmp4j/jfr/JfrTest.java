// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.jfr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

import jdk.jfr.Configuration;
import jdk.jfr.EventType;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.events.WaitProfile;
import org.gmp4j.sched.GStack;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.PinningCall;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** JFR's events: each is recorded by the settings in the jar, and read back. */
class JfrTest {
    private static final String OURS = "org.gmp4j.";
    private static final Duration LONG = Duration.ofMillis(60);
    private static final Duration LONGER = Duration.ofMillis(200);

    @TempDir
    private Path dir;

    private static Configuration settings() throws Exception {
        try (InputStream in = Gmp.class.getResourceAsStream("/META-INF/gmp4j.jfc")) {
            return Configuration.create(new InputStreamReader(in, StandardCharsets.UTF_8));
        }
    }

    private static void sleep(Duration d) {
        try {
            Thread.sleep(d);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private List<RecordedEvent> ours(Recording r, String scheduler) throws Exception {
        Path file = dir.resolve("events.jfr");
        r.dump(file);
        List<RecordedEvent> all = RecordingFile.readAllEvents(file).stream().filter(e -> e.getEventType().getName().startsWith(OURS))
                .filter(e -> e.getString("scheduler").equals(scheduler))
                .sorted(Comparator.comparing(RecordedEvent::getStartTime)).toList();
        Files.delete(file);
        return all;
    }

    private static List<RecordedEvent> of(List<RecordedEvent> all, String name) {
        return all.stream().filter(e -> e.getEventType().getName().equals(OURS + name)).toList();
    }

    private static boolean has(RecordedEvent e, String method) {
        return e.getStackTrace() != null && e.getStackTrace().getFrames().stream().map(RecordedFrame::getMethod)
                .anyMatch(m -> m.getName().equals(method) && m.getType().getName().equals(JfrTest.class.getName()));
    }

    /** Recorded as {@link #settings} say while {@code what} runs on one P. */
    private List<RecordedEvent> recorded(String scheduler, java.util.function.Consumer<Gmp> what) throws Exception {
        FlightRecording.begin();
        try (Recording r = new Recording(settings())) {
            r.start();
            try (Gmp gmp = Gmp.builder().procs(1).quantum(Duration.ofMillis(2)).name(scheduler).build()) {
                what.accept(gmp);
            }
            r.stop();
            return ours(r, scheduler);
        }
    }

    private static void waitsLong(Chan<Integer> c) {
        Integer _ = c.recv();
    }

    @Test
    void waits() throws Exception {
        List<RecordedEvent> all = recorded("waits", gmp -> {
            Chan<Integer> c = Chan.make();
            gmp.go(() -> waitsLong(c));
            gmp.go(() -> waitsLong(c));
            while (count(gmp, "/sched/goroutines/waiting:goroutines") < 2) {
                Thread.onSpinWait();
            }
            sleep(LONG);
            c.send(1);
            c.send(2);
            gmp.run(() -> Go.sleep(LONGER));
            gmp.run(() -> Go.sleep(Duration.ofMillis(1))); // Too short.
        });
        List<RecordedEvent> waits = of(all, "GoroutineWait").stream().filter(e -> e.getString("reason").equals("chan receive")).toList();
        assertEquals(2, waits.size(), waits::toString);
        for (RecordedEvent e : waits) {
            assertTrue(e.getDuration().compareTo(LONG) >= 0, e::toString);
            assertTrue(has(e, "waitsLong"), e::toString);
            assertTrue(e.getLong("goroutine") > 0, e::toString);
            assertTrue(e.getThread().isVirtual(), e::toString);
        }
        assertTrue(waits.get(0).getLong("goroutine") != waits.get(1).getLong("goroutine"), waits::toString);
        List<RecordedEvent> sleeps = of(all, "GoroutineWait").stream().filter(e -> e.getString("reason").equals("sleep")).toList();
        // The time is up so long after the call; the wait begins a little later.
        assertEquals(1, sleeps.stream().filter(e -> e.getDuration().compareTo(LONGER.dividedBy(2)) >= 0).count(), sleeps::toString);
        assertTrue(sleeps.stream().allMatch(e -> e.getDuration().compareTo(Duration.ofMillis(20)) >= 0), sleeps::toString);
    }

    private static void yields(AtomicBoolean stop) {
        while (!stop.get()) {
            boolean _ = Go.inGoroutine();
            Chan<Integer> c = Chan.make(1);
            c.send(1); // Calls the runtime.
        }
    }

    @Test
    void preemptions() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        List<RecordedEvent> all = recorded("preempted", gmp -> {
            gmp.go(() -> yields(stop));
            gmp.go(() -> yields(stop));
            while (count(gmp, "/sched/preemptions/yielded:events") < 6) { // They take turns.
                Thread.onSpinWait();
            }
            stop.set(true);
        });
        List<RecordedEvent> preempted = of(all, "GoroutinePreemption");
        assertTrue(preempted.size() > 1, preempted::toString);
        assertTrue(preempted.stream().anyMatch(e -> has(e, "yields")), preempted::toString);
        assertEquals(2, preempted.stream().map(e -> e.getLong("goroutine")).distinct().count(), preempted::toString);
        assertFalse(preempted.get(0).getBoolean("forStop"));
    }

    private static void blocks(CountDownLatch end) {
        PinningCall.run(() -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }

    private static void spins(AtomicBoolean stop) {
        while (!stop.get()) {
            Thread.onSpinWait();
        }
    }

    private static void announces() {
        try {
            Object _ = Go.blocking(() -> {
                sleep(LONG);
                return null;
            });
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static long count(Gmp gmp, String metric) {
        return (long) gmp.metrics().read(metric);
    }

    /** Returns after one more stall, be it where the hog was on its way to where it keeps the P. */
    private static void stall(Gmp gmp, Runnable hog) {
        long before = stalls(gmp);
        gmp.go(hog);
        while (stalls(gmp) == before) {
            gmp.run(() -> { }); // It waits for the P, and gets it.
        }
    }

    private static long stalls(Gmp gmp) {
        return count(gmp, "/sched/stalls/blocked:events") + count(gmp, "/sched/stalls/ran:events");
    }

    @Test
    void whatPsAreTakenFrom() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        AtomicBoolean stop = new AtomicBoolean();
        List<RecordedEvent> all = recorded("taken", gmp -> {
            gmp.run(() -> PinningCall.run(() -> { })); // All classes are there.
            while (count(gmp, "/sched/stalls/blocked:events") < 2) {
                sleep(LONG); // Each has a place: they are not more than a hundred a second.
                stall(gmp, () -> blocks(end));
            }
            while (count(gmp, "/sched/stalls/ran:events") == 0) {
                sleep(LONG);
                stall(gmp, () -> spins(stop));
            }
            stop.set(true);
            end.countDown();
        });
        assertTrue(of(all, "GoroutineStall").stream().anyMatch(e -> e.getString("where") != null
                && e.getString("where").contains("blocks")), all::toString);
        assertTrue(of(all, "GoroutineStall").stream().allMatch(e -> e.getLong("goroutine") > 0 && e.getInt("processor") == 0));
        assertTrue(of(all, "GoroutineStray").stream().anyMatch(e -> e.getLong("goroutine") > 0), all::toString);
    }

    /** On a scheduler of its own: a stack that lost a P gives the next away before it is taken. */
    @Test
    void whatIsTakenBack() throws Exception {
        List<RecordedEvent> all = recorded("retaken", gmp -> {
            while (count(gmp, "/sched/syscalls/retaken:events") == 0) {
                gmp.go(JfrTest::announces);
                gmp.run(() -> { });
            }
        });
        assertFalse(of(all, "SyscallRetaken").isEmpty(), all::toString);
        assertEquals(0, of(all, "SyscallRetaken").getFirst().getInt("processor"));
    }

    private static int grow(Gmp gmp) {
        return gmp.setProcs(3);
    }

    @Test
    void stopsThreadsAndNumbers() throws Exception {
        List<RecordedEvent> all = recorded("numbers", gmp -> {
            int _ = grow(gmp);
            gmp.run(() -> { }); // There is a thread.
            sleep(Duration.ofMillis(2_500)); // Numbers are written each second.
        });
        List<RecordedEvent> stops = of(all, "WorldStop");
        RecordedEvent stop = stops.getFirst();
        assertTrue(stops.stream().anyMatch(e -> has(e, "grow")), stops::toString);
        Duration stopping = stop.getDuration("stopping");
        assertTrue(!stopping.isNegative() && stopping.compareTo(stop.getDuration()) <= 0, stop::toString);
        Set<Long> began = of(all, "ThreadBegin").stream().map(e -> e.getLong("m")).collect(Collectors.toCollection(TreeSet::new));
        Set<Long> ended = of(all, "ThreadEnd").stream().map(e -> e.getLong("m")).collect(Collectors.toCollection(TreeSet::new));
        assertFalse(began.isEmpty(), all::toString);
        assertEquals(began, ended);
        assertTrue(of(all, "ThreadBegin").getFirst().getThread().getJavaName().startsWith("numbers-M"), all::toString);
        RecordedEvent numbers = of(all, "SchedulerStatistics").getLast();
        assertEquals(3, numbers.getLong("processors"));
        assertEquals(1, numbers.getLong("created"));
        assertEquals(0, numbers.getLong("goroutines"));
        assertTrue(!numbers.getDuration("idleTime").isZero(), numbers::toString);
        List<RecordedEvent> ofPs = of(all, "ProcessorStatistics");
        assertEquals(Set.of(0, 1, 2), ofPs.stream().map(e -> e.getInt("processor")).collect(Collectors.toSet()));
        assertTrue(ofPs.stream().mapToLong(e -> e.getLong("runs")).max().orElseThrow() >= 1, ofPs::toString);
    }

    /** The settings name each type with all that can be set, and nothing else; and each is off unless they are used. */
    @Test
    void theSettings() throws Exception {
        FlightRecording.begin();
        Set<String> known = new TreeSet<>();
        Set<String> set = new TreeSet<>(settings().getSettings().keySet());
        try (Recording r = new Recording()) {
            r.start();
            for (Class<? extends jdk.jfr.Event> c : Events.ALL) {
                EventType type = EventType.getEventType(c);
                assertFalse(type.isEnabled(), type::getName);
                assertNotNull(type.getDescription(), type::getName);
                assertTrue(set.contains(type.getName() + "#enabled"), type::getName);
                type.getSettingDescriptors().forEach(d -> known.add(type.getName() + '#' + d.getName()));
            }
        }
        set.removeAll(known);
        assertEquals(Set.of(), set);
    }

    /** Waits are recorded as long as a recording asks for them. */
    @Test
    void onlyWhileSomebodyWantsThem() throws Exception {
        FlightRecording.begin();
        try (Gmp gmp = Gmp.builder().procs(1).build()) {
            WaitProfile waits = gmp.call(() -> GStack.current().scheduler()).blockProfile;
            assertFalse(waits.isOn());
            try (Recording r = new Recording()) {
                r.start();
                assertFalse(waits.isOn());
                r.stop();
            }
            try (Recording r = new Recording(settings())) {
                r.start();
                assertTrue(waits.isOn());
                gmp.setBlockProfileRate(Duration.ofNanos(1));
                gmp.setBlockProfileRate(Duration.ZERO);
                assertTrue(waits.isOn());
                r.stop();
                assertFalse(waits.isOn());
            }
        }
    }

    /** A later recording finds the events by their names; when the recording ends waits are no longer looked at. */
    @Test
    void whileItRuns() throws Exception {
        Result r = new ChildJvm(JfrProgram.class).with("-XX:TieredStopAtLevel=1").run("late", dir.resolve("late.jfr").toString());
        assertEquals(new Result(0, "0 then 1\n", ""), r);
    }

    /** By the command line, from the start on. */
    @Test
    void fromTheStart() throws Exception {
        Path jfc = dir.resolve("gmp4j.jfc");
        try (InputStream in = Gmp.class.getResourceAsStream("/META-INF/gmp4j.jfc")) {
            Files.copy(in, jfc);
        }
        Path file = dir.resolve("start.jfr");
        Result r = new ChildJvm(JfrProgram.class)
                .with("-XX:StartFlightRecording:settings=default,settings=" + jfc + ",filename=" + file, "-Xlog:jfr*=off")
                .env("GMPDEBUG", "jfr=1").run("work");
        assertEquals(new Result(0, "done\n", ""), r);
        List<RecordedEvent> all = RecordingFile.readAllEvents(file);
        assertFalse(of(all, "ThreadBegin").isEmpty(), "no events of ours");
        assertTrue(of(all, "GoroutineWait").stream().anyMatch(e -> e.getString("reason").equals("sleep")), "no wait");
        assertTrue(all.stream().anyMatch(e -> e.getEventType().getName().equals("jdk.CPULoad")
                || e.getEventType().getName().equals("jdk.JVMInformation")), "none of the JDK's");
    }

    /** Without the module all else works. */
    @Tag("long")
    @Test
    void withoutTheModule() {
        ChildJvm jvm = new ChildJvm(JfrProgram.class).with("--limit-modules", "java.base,java.instrument");
        assertEquals(new Result(0, "done\n", ""), jvm.run("long"));
        Result r = jvm.env("GMPDEBUG", "jfr=1").run("work");
        assertEquals(new Result(2, "", "gmp4j: GMPDEBUG: jfr=1 needs the module jdk.jfr: start java with --add-modules jdk.jfr\n"), r);
        for (String[] other : new String[][] {{"jmx=1", "java.management"}, {"metrics=0", "jdk.httpserver"},
                {"dashboard=0", "jdk.httpserver"}}) {
            r = jvm.env("GMPDEBUG", other[0]).run("work");
            assertEquals(2, r.exit(), r::toString);
            assertEquals(1, r.err().lines().count(), r::toString);
            assertTrue(r.err().endsWith(other[1] + "\n"), r::toString);
        }
    }
}
