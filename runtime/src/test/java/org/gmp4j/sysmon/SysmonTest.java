// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;

import org.gmp4j.ffi.Memory;
import org.gmp4j.lock.Note;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link Sysmon} lives, and does what it is for, whatever the process has run out of. */
class SysmonTest {
    /** All that it begins with is made before its thread. */
    @Test
    void itBeginsWithAFullHeap() {
        Result r = new ChildJvm(FullHeapBeginProgram.class).with("-Xmx16m").run();
        assertEquals("42\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    @Test
    void itEndsWhenThereIsMemory() {
        long note = Memory.map(Integer.BYTES);
        Note.ring(note);
        List<Boolean> rung = new ArrayList<>();
        Sysmon.untilDone(() -> {
            rung.add(Note.woken(note));
            if (rung.size() < 3) {
                throw new OutOfMemoryError("not yet");
            }
        }, note);
        assertEquals(List.of(true, false, false), rung); // It sleeps before each further try.
    }

    /** The first overrun, and all that it loads. Serial: no safepoint polls in loops, so that all points are armed. */
    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"Serial", "G1"})
    void aGoroutineOverrunsWithAFullHeap(String collector) {
        Result r = new ChildJvm(FullHeapPointsProgram.class).with("-Xmx24m", "-XX:+Use" + collector + "GC").run();
        assertEquals("points are reached\nended\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** Its stack cannot be read, and so its points not be armed: it loses its P. */
    @Test
    void aGoroutineOverrunsWithoutAStackTrace() {
        Result r = new ChildJvm(NoStackTraceProgram.class).with("-Xmx16m", "-XX:+UseSerialGC").run();
        assertEquals("no stack traces true\nover\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    @Test
    void aThreadSleepsWhileThereAreNoFiles() {
        Result r = new ChildJvm(NoFilesProgram.class).plain().run();
        assertEquals("woken true, no files true, woken true\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
