// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

/** The table of a profile's places. */
class PlacesTest {
    private static final List<StackTraceElement> FRAMES = List.of(new StackTraceElement("Service", "answer", "Service.java", 7));
    private static final int MORE = 100;

    private static Map<String, String> request(int i) {
        return Map.of("request", "" + i);
    }

    private static Map<Places.Place, String> all(Places places) {
        Map<Places.Place, String> all = new HashMap<>();
        places.forEach((p, c) -> all.put(p, Math.round(c.number()) + " " + Math.round(c.nanos())));
        return all;
    }

    @Test
    void countsByFramesAndLabels() {
        Places places = new Places();
        places.add(FRAMES, null, 1, 10);
        places.add(List.copyOf(FRAMES), Map.of(), 0, 5);
        places.add(FRAMES, request(1), 1, 3);
        places.add(List.of(), request(1), 2, 4);
        assertEquals(Map.of(new Places.Place(FRAMES, Map.of()), "1 15", new Places.Place(FRAMES, request(1)), "1 3",
                new Places.Place(List.of(), request(1)), "2 4"), all(places));
    }

    /** Labels that are never the same twice do not fill the heap. Nothing that was counted is lost, and old places are still counted at. */
    @Test
    void aLimitOfPlaces() {
        Places places = new Places();
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < Places.MOST + MORE; i++) {
                places.add(FRAMES, request(i), 1, 10);
            }
        }
        Map<Places.Place, String> all = all(places);
        assertEquals(Places.MOST + 1, all.size());
        assertEquals("2 20", all.get(new Places.Place(FRAMES, request(Places.MOST - 1))));
        assertEquals(2 * MORE + " " + 20 * MORE, all.get(Places.OTHERS));
    }
}
