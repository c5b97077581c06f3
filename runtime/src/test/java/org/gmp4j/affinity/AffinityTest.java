// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AffinityTest {
    @TempDir
    Path root;

    private FakeSystem fake() {
        return new FakeSystem(root);
    }

    /** The single CPU of each P, or a failure. */
    private static List<Integer> cpus(Affinity affinity, int procs, Topology topology) {
        List<BitSet> places = affinity.place(procs, topology);
        assertEquals(procs, places.size());
        places.forEach(p -> assertEquals(1, p.cardinality()));
        return places.stream().map(p -> p.nextSetBit(0)).toList();
    }

    @Test
    void noneIsEmpty() {
        assertEquals(List.of(), Affinity.none().place(4));
    }

    @Test
    void compactFillsCoreThenNode() {
        Topology t = fake().twoSocketsSmt().topology("0-7");
        assertEquals(List.of(0, 4, 1, 5, 2, 6, 3, 7, 0, 4), cpus(Affinity.compact(), 10, t));
        assertEquals(List.of(6, 3, 7, 6), cpus(Affinity.compact(), 4, fake().topology("3,6-7")));
    }

    @Test
    void scatterTakesSiblingsLast() {
        Topology t = fake().twoSocketsSmt().topology("0-7");
        assertEquals(List.of(0, 2, 1, 3, 4, 6, 5, 7, 0), cpus(Affinity.scatter(), 9, t));
        // 4 is the only CPU of its core that is ours, so it is a first one.
        assertEquals(List.of(1, 2, 4, 3, 5), cpus(Affinity.scatter(), 5, fake().topology("1-5")));
    }

    @Test
    void scatterSpreadsOverCachesAndCompactStaysWithinOne() {
        // One node, four cores; 0 and 2 share a last-level cache, 1 and 3 another.
        for (int id = 0; id < 4; id++) {
            fake().cpu(id, id, 0, "" + id).cache(id, 0, 3, "Unified", "16M", id % 2 == 0 ? "0,2" : "1,3");
        }
        assertEquals(List.of(0, 2, 1, 3), cpus(Affinity.compact(), 4, fake().topology("0-3")));
        assertEquals(List.of(0, 1, 2, 3), cpus(Affinity.scatter(), 4, fake().topology("0-3")));
    }

    @Test
    void compactGoesToTheNearestNodeNext() {
        Topology t = fake().nodes("0-2").node(0, "0-1", "10 40 20").node(1, "2-3", "40 10 20")
                .node(2, "4-5", "20 20 10").topology("0-5");
        assertEquals(List.of(0, 1, 4, 5, 2, 3), cpus(Affinity.compact(), 6, t));
    }

    @Test
    void scatterOverNodesOfDifferentSize() {
        Topology t = fake().nodes("0-1").node(0, "0", "10 20").node(1, "1-3", "20 10").topology("0-3");
        assertEquals(List.of(0, 1, 2, 3), cpus(Affinity.scatter(), 4, t));
    }

    @Test
    void perNodeSkipsNodesWithoutCpus() {
        fake().nodes("0-2").node(0, "0-1", "10 20 20").node(1, "", "20 10 20").node(2, "2-3", "20 20 10");
        List<BitSet> places = Affinity.perNode().place(3, fake().topology("0-2"));
        assertEquals(List.of(FakeSystem.set("0-1"), FakeSystem.set("2"), FakeSystem.set("0-1")), places);
    }

    @Test
    void coresLeaveSiblingsFree() {
        Topology t = fake().twoSocketsSmt().topology("0-7");
        assertEquals(List.of(0, 1, 2, 3, 0), cpus(Affinity.cores(), 5, t));
        // The only CPU of a core that is ours is its first; the node of the first CPU comes first.
        assertEquals(List.of(2, 4, 5), cpus(Affinity.cores(), 3, fake().topology("2,4-6")));
    }

    /** The last of compact's order are kept free, whatever the policy. */
    @Test
    void reservedCpusAreUsedByNoP() {
        Topology t = fake().twoSocketsSmt().topology("0-7");
        assertEquals(List.of(0, 4, 1, 5, 2, 6, 3), cpus(Affinity.compact().reserve(1), 7, t));
        assertEquals(List.of(0, 2, 1, 4, 6, 5, 0), cpus(Affinity.scatter().reserve(2), 7, t));
        assertEquals(List.of(0, 1, 2, 0), cpus(Affinity.cores().reserve(2), 4, t));
        assertEquals(List.of(FakeSystem.set("0-1,4-5"), FakeSystem.set("2")), Affinity.perNode().reserve(3).place(2, t));
        assertEquals(List.of(FakeSystem.set("0-2,4-6")), Affinity.none().reserve(2).place(1, t));
        assertEquals(List.of(0, 0), cpus(Affinity.compact().reserve(100), 2, t)); // One is left in any case.
        assertEquals(List.of(), Affinity.none().reserve(0).place(3));
    }

    /** What a policy is dealt with again, when CPUs went. */
    @Test
    void placesOfWhatIsLeft() {
        Topology t = fake().twoSocketsSmt().topology("0-7");
        Affinity list = Affinity.cpus("6,2,3", t);
        assertEquals(List.of(FakeSystem.set("6"), FakeSystem.set("3")), list.places(fake().topology("0,3-6")));
        assertEquals(List.of(FakeSystem.set("0-1")), list.places(fake().topology("0-1")));
        assertEquals(List.of(FakeSystem.set("0"), FakeSystem.set("1")), Affinity.scatter().places(fake().topology("0-1")));
        assertEquals(List.of(), Affinity.none().places(t));
    }

    @Test
    void reserveAsText() {
        for (String text : List.of("compact:reserve=1", "none:reserve=3", "cores", "cores:reserve=65535", "pernode:reserve=2")) {
            assertEquals(text, Affinity.parse(text).toString());
            assertEquals(Affinity.parse(text), Affinity.parse(text.toUpperCase(java.util.Locale.ROOT)));
        }
        assertEquals(Affinity.compact(), Affinity.parse("compact:reserve=0"));
        assertNotEquals(Affinity.compact(), Affinity.parse("compact:reserve=1"));
        assertTrue(Affinity.parse("none:reserve=1").limitsProcs() && Affinity.cores().limitsProcs() && !Affinity.compact().limitsProcs());
        for (String text : List.of("compact:reserve=", "compact:reserve=x", "compact:reserve=-1", "compact:reserve=65536", ":reserve=1",
                "0:reserve=1", "compact:reserve=99999999999")) {
            String said = assertThrows(IllegalArgumentException.class, () -> Affinity.parse(text), text).getMessage();
            assertTrue(said.contains("reserve") || said.contains("unknown"), said);
        }
    }

    @Test
    void placesAreTheCallers() {
        Topology t = fake().twoSocketsSmt().topology("0-7");
        for (Affinity a : List.of(Affinity.compact(), Affinity.perNode())) {
            List<BitSet> places = a.place(16, t);
            BitSet last = (BitSet) places.get(15).clone();
            places.get(0).clear();
            places.get(7).clear();
            assertEquals(last, places.get(15));
        }
    }

    @Test
    void everyPolicyUsesEveryCpuOnceBeforeAnyTwice() {
        Random random = new Random(1);
        fake().twoSocketsSmt();
        for (int i = 0; i < 50; i++) {
            BitSet allowed = BitSet.valueOf(new long[] {1 + random.nextInt(255)});
            Topology t = new Topology(root, allowed);
            for (Affinity a : List.of(Affinity.compact(), Affinity.scatter())) {
                BitSet used = new BitSet();
                a.place(allowed.cardinality(), t).forEach(used::or);
                assertEquals(allowed, used, a.toString());
            }
        }
    }

    @Test
    void listKeepsItsOrder() {
        Topology t = fake().topology("0-7");
        assertEquals(List.of(6, 0, 1, 2, 6), cpus(Affinity.cpus("6, 0-2", t), 5, t));
        assertEquals(List.of(3, 3, 1, 3), cpus(Affinity.cpus("3,3,1", t), 4, t));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "''       | \"\" is not a CPU number or a range such as 4-7",
        "0,,2     | \"\" is not a CPU number or a range such as 4-7",
        "0,2,     | \"\" is not a CPU number or a range such as 4-7",
        "0,x      | \"x\" is not a CPU number or a range such as 4-7",
        "2-0      | \"2-0\" is not a CPU number or a range such as 4-7",
        "1-       | \"1-\" is not a CPU number or a range such as 4-7",
        "0-1-2    | \"0-1-2\" is not a CPU number or a range such as 4-7",
        "-1       | \"-1\" is not a CPU number or a range such as 4-7",
        "+1       | \"+1\" is not a CPU number or a range such as 4-7",
        "0;1      | \"0;1\" is not a CPU number or a range such as 4-7",
        "8        | CPU 8 is not there",
        "0-999999999999 | this process may not use CPU 3",
        "6-999999999999 | CPU 8 is not there",
        "999999999999   | CPU 999999999999 is not there",
        "3        | this process may not use CPU 3",
    })
    void badListsSayWhatIsWrongAndWhatThereIs(String list, String what) {
        Topology t = fake().online("0-7").topology("0-2,4-7");
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Affinity.cpus(list, t));
        assertEquals("CPU list \"" + list + "\": " + what + "; available are CPUs 0-2,4-7.", e.getMessage());
    }

    @Test
    void oneCpuIsSingular() {
        Topology t = fake().topology("5");
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Affinity.cpus("4", t));
        assertEquals("CPU list \"4\": CPU 4 is not there; available is CPU 5.", e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "compact", "scatter", "pernode"})
    void parsesWhatItPrints(String word) {
        assertEquals(word, Affinity.parse(word).toString());
        assertEquals(Affinity.parse(word), Affinity.parse(" " + word.toUpperCase(java.util.Locale.ROOT)));
    }

    @Test
    void parsesLists() {
        int first = Topology.system().allowed().nextSetBit(0);
        assertEquals(Affinity.cpus("" + first), Affinity.parse(" " + first + " "));
        assertThrows(IllegalArgumentException.class, () -> Affinity.parse("99999999"));
        assertEquals("3,0-2,2", Affinity.cpus("3,0,1-2,2", fake().topology("0-3")).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "spread", "-1", ",0"})
    void unknownPolicy(String word) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Affinity.parse(word));
        String start = "affinity \"" + word + "\" is unknown: use none, compact, scatter, cores, pernode,";
        assertTrue(e.getMessage().startsWith(start), e.getMessage());
    }

    @Test
    void procsMustBePositive() {
        for (Affinity a : List.of(Affinity.none(), Affinity.compact())) {
            assertThrows(IllegalArgumentException.class, () -> a.place(0));
        }
    }

    @Test
    void equality() {
        Topology t = fake().topology("0-3");
        assertEquals(Affinity.cpus("0-2", t), Affinity.cpus("0,1,2", t));
        assertEquals(Affinity.cpus("0-2", t).hashCode(), Affinity.cpus("0,1,2", t).hashCode());
        assertNotEquals(Affinity.cpus("0,1", t), Affinity.cpus("1,0", t));
        assertNotEquals(Affinity.compact(), Affinity.scatter());
        assertEquals(Affinity.compact(), Affinity.parse("compact"));
    }

    @Test
    void thisMachine() {
        BitSet allowed = Topology.system().allowed();
        for (String word : List.of("compact", "scatter", "pernode")) {
            List<BitSet> places = Affinity.parse(word).place(2 * allowed.cardinality() + 1);
            assertEquals(2 * allowed.cardinality() + 1, places.size());
            BitSet used = new BitSet();
            places.forEach(used::or);
            assertEquals(allowed, used, word);
        }
    }
}
