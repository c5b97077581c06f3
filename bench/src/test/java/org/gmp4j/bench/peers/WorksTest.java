// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each work of the Java peers runs, small, and its figures are those that the catalogue promises. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorksTest {
    private static final Meter.Settings SMALL = new Meter.Settings(2_000_000, 2_000_000, 1_000_000_000, 1000);

    @ParameterizedTest
    @EnumSource(names = {"GMP4J", "JDK", "THREADS"})
    void everyWorkGivesItsFigures(Peer peer) {
        for (Catalogue.Work work : Catalogue.select(List.of())) {
            if (work.peers().contains(peer)) {
                Set<String> promised = new HashSet<>();
                work.rows().forEach(row -> promised.add(row.nameFor(peer)));
                Set<String> printed = new HashSet<>();
                for (Line line : run(peer, work)) {
                    printed.add(line.work());
                    boolean never = peer == Peer.JDK && line.note().equals("never in 1 s"); // Fewer carriers than hogs.
                    boolean right = never ? work.name().equals("hogs") : line.value() >= 0 && line.value() < 1e12;
                    assertTrue(right, line.toString());
                }
                assertEquals(promised, printed);
            }
        }
    }

    private static List<Line> run(Peer peer, Catalogue.Work work) {
        List<Line> lines = new ArrayList<>();
        for (String variant : peer == Peer.GMP4J ? work.variants() : List.of("")) {
            try (Kit kit = JavaPeer.kit(peer, work.procs(), variant)) {
                JavaPeer.run(work.name(), work.procs(), kit, new Meter(SMALL, variant, lines::add));
            }
        }
        return lines;
    }
}
