// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;

import org.gmp4j.print.Frames;
import org.junit.jupiter.api.Test;

/** {@link WaitProfile}: the places that it keeps. */
class WaitProfileTest {
    private static final int MORE = 100;

    private static void wait(WaitProfile profile, int request) {
        profile.waited(Map.of("request", "" + request), false, 10);
    }

    private static WaitProfile.Place others(List<WaitProfile.Place> all) {
        return all.stream().filter(p -> p.frames.equals(List.of(Frames.OTHERS))).findFirst().orElseThrow();
    }

    /** Labels that are never the same twice do not fill the heap. Nothing that was counted is lost, and old places are still counted at. */
    @Test
    void aLimitOfPlaces() {
        WaitProfile profile = new WaitProfile();
        profile.setRate(1, "");
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < WaitProfile.MOST + MORE; i++) {
                wait(profile, i);
            }
        }
        List<WaitProfile.Place> all = profile.all();
        assertEquals(WaitProfile.MOST + 1, all.size());
        assertEquals(2 * MORE, others(all).count());
        assertEquals(20 * MORE, others(all).nanos());
        assertTrue(all.stream().allMatch(p -> p.count() == 2 || p.frames.equals(List.of(Frames.OTHERS))));
    }

    /** A profile of a span finds room for its places, and leaves the program's as they are. */
    @Test
    void aWindowHasItsOwnPlaces() {
        WaitProfile profile = new WaitProfile();
        for (int window = 0; window < 2; window++) {
            assertTrue(profile.openWindow(1));
            for (int i = 0; i < WaitProfile.MOST; i++) {
                wait(profile, window * WaitProfile.MOST + i);
            }
            List<WaitProfile.Place> found = profile.closeWindow();
            assertEquals(WaitProfile.MOST, found.size());
            assertTrue(found.stream().allMatch(p -> p.count() == 1));
        }
        assertEquals(List.of(), profile.all());
        profile.setRate(1, "");
        for (int window = 0; window < 2; window++) {
            assertTrue(profile.openWindow(1));
            wait(profile, 0);
            assertEquals(1, profile.closeWindow().getFirst().count());
        }
        assertEquals(2, profile.all().getFirst().count());
    }
}
