// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two states of a run that differ have two numbers: else an exhaustive search leaves out what follows from one of them. */
class StatesTest {
    private static final List<Program> CASES = Rewriter.load(null, Names.PROGRAMS + "StateCases");
    private static final List<Program> ALL = Rewriter.load(null);
    private static final long SECOND = 1_000_000_000;
    private static final int SEEDS = 10;
    private static final int MORE_SEEDS = 60;
    private static final int MOST_STATES = 3_000;

    private static List<Program> group(String name) {
        return CASES.stream().filter(p -> p.group().equals(name)).toList();
    }

    private static Exhaustive search(Program p, boolean reduces, boolean merges) {
        Exhaustive all = new Exhaustive(reduces, merges);
        Checked checked = new Checked(all);
        Run _ = Engine.run(p, new RandomWalk(0)); // Loads classes.
        Run run;
        do {
            run = Engine.run(p, checked);
            assertNull(run.failure, () -> p.name());
            checked.ended();
        } while (all.another(run) && all.states() < MOST_STATES);
        assertNull(checked.differs, () -> p.name() + ": " + checked.differs);
        return all;
    }

    @Test
    void whatAScheduleHasDoneIsPartOfTheState() {
        for (Program p : group("race")) {
            Exhaustive all = search(p, false, false);
            assertTrue(all.ends().size() > 1, () -> p.name() + " ends in one way");
            assertEquals(all.ends(), search(p, true, true).ends(), p.name());
        }
    }

    /** The order in which lanes take memory, or are counted, is no race: other accesses are to decide it. */
    @Test
    void theOrderOfAllocationsIsPartOfTheState() {
        for (Program p : group("order")) {
            assertTrue(search(p, false, false).ends().size() > 1, p.name());
        }
    }

    @Test
    void anObjectIsNamedByItsMaker() {
        for (Program p : group("alike")) {
            assertEquals(1, search(p, false, false).ends().size(), p.name());
        }
    }

    @Test
    void aMethodReferenceAndAVolatileFieldOfAnotherClassArePoints() {
        for (Program p : group("count")) {
            Finding f = Search.all(p, 60 * SECOND);
            assertNotNull(f.failed(), p.name());
            assertEquals("a count is lost", f.failed().failure.why());
        }
    }

    /** The schedule has no arrival of a store. */
    @Test
    void aStoreArrivesWhileAllWaitAndIsSeenByItsLane() {
        for (Program p : group("stores")) {
            Run run = Engine.repeat(p, Schedule.parse("0"), null, true);
            assertNull(run.failure, () -> p.name() + ": " + run.failure.text());
        }
    }

    @Test
    void aLateStoreToAStructThatAnotherLaneHasGivenBackIsAFailure() {
        Run run = Engine.repeat(group("given").getFirst(), Schedule.parse("0x2 1 0s"), null, true);
        assertEquals("a late store reaches a struct that was given back", run.failure.why());
        assertNull(Engine.repeat(group("given").getLast(), Schedule.parse("0x2"), null, true).failure);
    }

    @Test
    void whatMustHoldIsCheckedWhenTheProcessHasEnded() {
        Run run = Engine.run(group("ends").getFirst(), new RandomWalk(0));
        assertEquals("the end is checked", run.failure.text());
    }

    @Test
    void anInterruptOfAStackThatHasEndedIsPartOfTheState() {
        Program p = Program.of("ended-stack", "race", "a stack ends and is interrupted", () -> new Case() {
            private StackThread stack;

            @Override
            protected void begin() {
                stack = new StackThread(null, () -> { });
                lane("runs", () -> World.run.switchStack(stack));
            }

            @Override
            protected void end() {
                long before = stack.digest(World.run.digest);
                stack.interrupted = true;
                check(stack.isDone() && stack.digest(World.run.digest) != before, "the interrupt is not seen");
            }
        });
        assertNull(Engine.run(p, new Exhaustive()).failure);
    }

    @Test
    void aLaneThatWaitsTooLongEndsTheSearch() {
        Finding f = Search.all(group("starves").getFirst(), 60 * SECOND);
        assertEquals("an exhaustive search does not see how long raises has waited", f.failed().failure.why());
    }

    @Test
    void statesWithOneNumberContainTheSame() {
        for (Program p : ALL.stream().filter(Program::isQuick).toList()) {
            Exhaustive _ = search(p, true, true);
        }
        long again = walks(SEEDS);
        assertTrue(again > 1_000, "states are seldom known again: " + again);
    }

    @Tag("long")
    @Test
    void statesOfMoreSchedulesContainTheSame() {
        long again = walks(MORE_SEEDS);
        assertTrue(again > 1_000, "states are seldom known again: " + again);
    }

    /** Returns how often a state was known again. */
    private static long walks(int seeds) {
        return ALL.stream().filter(Program::small).mapToLong(p -> walks(p, seeds)).sum();
    }

    private static long walks(Program p, int seeds) {
        int length = Engine.length(p);
        Checked checked = new Checked(null);
        for (int seed = 0; seed < seeds; seed++) {
            checked.by = Search.strategy(Search.MIXED, seed, length);
            Run run = Engine.run(p, checked);
            assertNull(run.failure, () -> p.name());
            checked.ended();
        }
        assertNull(checked.differs, () -> p.name() + ": " + checked.differs);
        return checked.again;
    }
}
