// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;

import org.junit.jupiter.api.Test;

/** {@link WaitProfile}: the places that it keeps. */
class WaitProfileTest {
    private static final int MORE = 100;

    private static void wait(WaitProfile profile, int request) {
        profile.waited(Map.of("request", "" + request), false, 10);
    }

    private static Map<Places.Place, Places.Count> all(Places places) {
        Map<Places.Place, Places.Count> all = new HashMap<>();
        places.forEach(all::put);
        return all;
    }

    private static double only(Places places) {
        return all(places).values().iterator().next().number();
    }

    /** Labels that are never the same twice do not fill the heap. Nothing that was counted is lost, and old places are still counted at. */
    @Test
    void aLimitOfPlaces() {
        WaitProfile profile = new WaitProfile();
        profile.setRate(1, "");
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < Places.MOST + MORE; i++) {
                wait(profile, i);
            }
        }
        Map<Places.Place, Places.Count> all = all(profile.all());
        assertEquals(Places.MOST + 1, all.size());
        assertEquals(new Places.Count(2 * MORE, 20 * MORE), all.remove(Places.OTHERS));
        assertTrue(all.values().stream().allMatch(c -> c.number() == 2));
    }

    /** A profile of a span finds room for its places, and leaves the program's as they are. */
    @Test
    void aWindowHasItsOwnPlaces() {
        WaitProfile profile = new WaitProfile();
        for (int window = 0; window < 2; window++) {
            assertTrue(profile.openWindow(1));
            for (int i = 0; i < Places.MOST; i++) {
                wait(profile, window * Places.MOST + i);
            }
            Map<Places.Place, Places.Count> found = all(profile.closeWindow());
            assertEquals(Places.MOST, found.size());
            assertTrue(found.values().stream().allMatch(c -> c.number() == 1));
        }
        assertEquals(Map.of(), all(profile.all()));
        profile.setRate(1, "");
        for (int window = 0; window < 2; window++) {
            assertTrue(profile.openWindow(1));
            wait(profile, 0);
            assertEquals(1, only(profile.closeWindow()));
        }
        assertEquals(2, only(profile.all()));
    }
}
