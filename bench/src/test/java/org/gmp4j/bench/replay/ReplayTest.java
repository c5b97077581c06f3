// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs of gmp replay hold, a planted fault is found and repeated, and a seed names one schedule. */
class ReplayTest {
    private static final List<Program> ALL = Rewriter.load(null);
    private static final long SECOND = 1_000_000_000;
    /** Most faults are found by the first 15 schedules; .ci/replay runs more. */
    private static final int SEEDS = 20;
    /** Schedules of each group whose programs end in a way that is seen. */
    private static final int OF_GROUP = 1_000;
    /** Programs with several ends that are small enough to take all schedules. */
    private static final List<String> ENDS_OF_ALL = List.of("kick", "runnext", "runnext-two", "note-limited", "scan");

    @TempDir
    Path dir;

    private static Program program(List<Program> all, String name) {
        return all.stream().filter(p -> p.name().equals(name)).findFirst().orElseThrow();
    }

    private static String steps(Run run) {
        StringBuilder text = new StringBuilder();
        run.trace.steps().forEach(s -> text.append(s.lane).append(' ').append(s.text()).append('\n'));
        return text.toString();
    }

    @Test
    void eachProgramHoldsUnderRandomAndPrioritySchedules() {
        for (Program p : ALL) {
            Finding f = Search.seeds(p, Search.MIXED, 0, SEEDS, 60 * SECOND);
            assertNull(f.failed(), () -> f.row());
            assertEquals(SEEDS, f.schedules(), p.name());
            assertTrue(f.steps() > SEEDS, () -> p.name() + " has no points");
        }
    }

    @Test
    void smallProgramsAreCoveredWholly() {
        for (Program p : ALL.stream().filter(Program::isQuick).toList()) {
            Finding f = Search.all(p, 60 * SECOND);
            assertNull(f.failed(), () -> f.row());
            assertTrue(f.complete(), () -> f.row());
            assertTrue(f.schedules() > 1 && f.states() > f.schedules(), () -> f.row());
        }
    }

    private static Exhaustive search(Program p, boolean reduces, boolean merges) {
        Run _ = Engine.run(p, new RandomWalk(0)); // Loads classes.
        Exhaustive all = new Exhaustive(reduces, merges);
        Run run;
        do {
            run = Engine.run(p, all);
            assertNull(run.failure, () -> p.name());
        } while (all.another(run));
        return all;
    }

    /** A search that leaves schedules out comes to the same states as one that takes all. */
    @Test
    void whatIsLeftOutLeadsToNoOtherState() {
        int ends = 0;
        for (Program p : ALL.stream().filter(Program::isQuick).toList()) {
            Exhaustive both = search(p, true, true);
            Exhaustive merged = search(p, false, true);
            assertEquals(merged.ends(), both.ends(), p.name());
            assertTrue(both.states() <= merged.states() * 11 / 10, p.name());
            if (ENDS_OF_ALL.contains(p.name())) {
                Exhaustive all = search(p, false, false);
                assertEquals(all.ends(), both.ends(), p.name());
                assertTrue(all.schedules() > both.schedules(), p.name());
            }
            ends += both.ends().size();
        }
        assertTrue(ends > 100, "the states of all programs are alike: " + ends);
        assertEquals(search(program(ALL, "heap-mutex-2"), true, false).ends(), search(program(ALL, "heap-mutex-2"), true, true).ends());
    }

    /** A longer form: {@code gmp replay --program deadlock --seeds 1000}, and so for the others. */
    @ParameterizedTest
    @ValueSource(strings = {"deadlock", "procs", "close"})
    void deadlocksResizesAndClosesHold(String group) {
        List<Program> programs = ALL.stream().filter(p -> p.group().equals(group)).toList();
        long schedules = 0;
        for (Program p : programs) {
            Finding f = Search.seeds(p, Search.MIXED, SEEDS, OF_GROUP / programs.size(), 60 * SECOND);
            assertNull(f.failed(), () -> f.row());
            schedules += f.schedules();
        }
        assertTrue(programs.size() > 3 && schedules > OF_GROUP * 9 / 10, group + ": " + schedules);
    }

    @Test
    void aStartThatFailsIsAChoice() {
        Program p = program(ALL, "no-threads");
        List<Run> runs = IntStream.range(0, 20).mapToObj(seed -> Engine.run(p, new RandomWalk(seed))).toList();
        Run failed = runs.stream().filter(r -> new Schedule(r.schedule()).toString().contains("f")).findFirst().orElseThrow();
        assertNull(failed.failure);
        assertTrue(runs.stream().anyMatch(r -> !new Schedule(r.schedule()).toString().contains("f")), "all starts have failed");
        Run again = Engine.repeat(p, Schedule.parse(new Schedule(failed.schedule()).toString()), new Trace());
        assertTrue(again.trace.steps().stream().anyMatch(s -> s.text().startsWith("thread.start fails")), () -> Lanes.text(again));
    }

    @Test
    void aSeedNamesOneSchedule() {
        for (String name : List.of("wraps-around", "heap-mutex-3", "selects", "sleeps", "parks", "resizes", "no-threads", "net-read",
                "interrupt", "pinned")) {
            Program p = program(ALL, name);
            int length = Engine.length(p);
            for (int seed = 0; seed < 6; seed++) {
                Run first = Engine.run(p, Search.strategy(Search.MIXED, seed, length), new Trace());
                Run again = Engine.run(p, Search.strategy(Search.MIXED, seed, length), new Trace());
                assertEquals(steps(first), steps(again), name + ", seed " + seed);
                Schedule schedule = Schedule.parse(new Schedule(first.schedule()).toString());
                assertEquals(steps(first), steps(Engine.repeat(p, schedule, new Trace())), name + ", schedule of seed " + seed);
            }
        }
    }

    @Test
    void seedsNameDifferentSchedules() {
        Program p = program(ALL, "submits");
        long different = IntStream.range(0, 20)
                .mapToObj(seed -> new Schedule(Engine.run(p, new RandomWalk(seed)).schedule()).toString()).distinct().count();
        assertTrue(different > 10, different + " of 20 schedules differ");
    }

    private static Run find(Program p) {
        for (int seed = 0; seed < 2_000; seed++) {
            Run run = Engine.run(p, new RandomWalk(seed));
            if (run.failure != null) {
                return run;
            }
        }
        throw new AssertionError(p.name() + " does not find the planted fault");
    }

    @Test
    void aPlantedFaultOfTheRingIsFoundShrunkAndRepeated() throws IOException {
        List<Program> all = Plant.in(dir, "queue/Runq.java", "return next != 0 && RUNNEXT.compareAndSet(pp, next, 0L) ? next : 0;",
                "if (next != 0) { RUNNEXT.setVolatile(pp, 0L); } return next;");
        Program p = program(all, "runnext");
        Run failed = find(p);
        Schedule shorter = Engine.shrink(p, failed);
        Run again = Engine.repeat(p, shorter, new Trace());
        assertTrue(failed.failure.isLike(again.failure), () -> failed.failure.text() + ", then " + again.failure);
        assertEquals(2, shorter.switches(), () -> Lanes.text(again));
        assertTrue(again.failure.why().endsWith("was taken twice"), again.failure.why());
        assertTrue(Lanes.text(again).contains("RUNNEXT.setVolatile"), () -> Lanes.text(again));
        Finding f = Search.all(p, 60 * SECOND);
        assertNotNull(f.failed(), () -> f.row());
    }

    @Test
    void aPlantedFaultOfTheLoopIsFoundAndRepeated() throws IOException {
        List<Program> all = Plant.in(dir, "sched/Wakep.java", "            wakepSlow(s, 0);\n        }\n    }", "        }\n    }");
        Program p = program(all, "submits");
        Run failed = find(p);
        assertTrue(failed.failure.why().contains("runnable goroutines"), failed.failure.why());
        Run again = Engine.repeat(p, Engine.shrink(p, failed), new Trace());
        assertTrue(failed.failure.isLike(again.failure), () -> failed.failure.text() + ", then " + again.failure);
    }

    /** Only a store that is seen late makes a difference: without it the same program holds. */
    @Test
    void aMissingFenceIsFoundWhereStoresAreLate() throws IOException {
        Program p = program(Plant.in(dir, "sched/base/Gate.java", "            Membarrier.run();\n", "            // No fence.\n"), "gate");
        assertNull(Search.seeds(p, Search.RANDOM, 0, SEEDS, 60 * SECOND).failed());
        Run failed = Search.seeds(p, Search.STORES, 0, SEEDS, 60 * SECOND).failed();
        assertNotNull(failed);
        Schedule shorter = Schedule.parse(Engine.shrink(p, failed).toString());
        Run again = Engine.repeat(p, shorter, new Trace(), true);
        assertTrue(failed.failure.isLike(again.failure), () -> failed.failure.text() + ", then " + again.failure);
    }

    @Test
    void eachProgramHoldsWhereStoresAreLate() {
        for (Program p : ALL) {
            Finding f = Search.seeds(p, Search.STORES, 0, SEEDS / 2, 60 * SECOND);
            assertNull(f.failed(), () -> f.row());
        }
    }

    @Test
    void aScheduleThatDoesNotFitIsRefused() {
        Program p = program(ALL, "kick");
        assertThrows(IllegalArgumentException.class, () -> Engine.repeat(p, Schedule.parse("0x500"), new Trace()));
        assertThrows(IllegalArgumentException.class, () -> Schedule.parse("zero"));
        assertEquals("0x3 1 0t 12w 3f 15sx2", Schedule.parse(" 0x2, 0 1 0tx1 12w 3f 15s 15s").toString());
    }

    @Test
    void aNameThatDoesNotExistIsAnError() {
        ClassLoader none = new ClassLoader(null) { };
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> new Names().check(none));
        assertTrue(e.getMessage().startsWith("gmp replay rewrites org.gmp4j."), e.getMessage());
        assertFalse(e.getMessage().contains("\n"), e.getMessage());
    }

    @Test
    void aCallThatIsNotTheHeadOfTheLoopIsAnError() {
        String find = "org/gmp4j/sched/FindRunnable.class";
        ClassLoader other = new ClassLoader(getClass().getClassLoader()) {
            @Override
            public InputStream getResourceAsStream(String name) {
                return super.getResourceAsStream(name.equals(find) ? "org/gmp4j/sched/Schedule.class" : name);
            }
        };
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> new Names().check(other));
        assertTrue(e.getMessage().startsWith("gmp replay takes one call of org.gmp4j.sched.FindRunnable.findRunnable"), e.getMessage());
    }
}
