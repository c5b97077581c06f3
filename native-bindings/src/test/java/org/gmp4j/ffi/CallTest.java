// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;

import com.sun.management.ThreadMXBean;
import org.gmp4j.ffi.gmp.shims_h;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CallTest {
    /** They take eight pieces of memory, and have handles of their own. */
    private static final List<String> OTHERS = List.of("gmp_sendv$descriptor", "gmp_readv$descriptor");

    @TempDir
    Path dir;

    @BeforeAll
    static void load() {
        Shims.load();
    }

    /** All that the two handles may be used for: up to six integers or addresses, and such a result or none. */
    @Test
    void ourFunctionsFit() throws Exception {
        int functions = 0;
        for (Method m : shims_h.class.getDeclaredMethods()) {
            if (m.getName().endsWith("$descriptor") && !OTHERS.contains(m.getName())) {
                FunctionDescriptor d = (FunctionDescriptor) m.invoke(null);
                assertTrue(d.argumentLayouts().size() <= 6, m.getName());
                for (MemoryLayout argument : d.argumentLayouts()) {
                    assertTrue(isInteger(argument), m.getName() + ": " + argument);
                }
                assertTrue(d.returnLayout().isEmpty() || isInteger(d.returnLayout().get()), m.getName());
                functions++;
            }
        }
        assertTrue(functions > 30, functions + " functions");
    }

    private static boolean isInteger(MemoryLayout l) {
        return l instanceof ValueLayout.OfInt || l instanceof ValueLayout.OfLong || l instanceof ValueLayout.OfShort;
    }

    /** Also before C2 has compiled it, because Ms and sysmon call C functions when there is no memory. */
    @Test
    void aCallAllocatesNothing() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int calls = 500;
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 10; i++) { // The first ones link the handles.
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int k = 0; k < calls; k++) {
                long _ = OsThread.gettid() + OsThread.cpuNanos(0);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertTrue(least < calls, least + " bytes");
    }

    /** Each argument arrives, at the width that the function has it, and negative ones stay so. */
    @Test
    void argumentsAndResults() throws Exception {
        Path library = Cc.library(dir, """
                #include <stdint.h>
                int64_t mixed(int32_t a, uint64_t b, int32_t c, int64_t d, uint32_t e, int32_t f)
                {
                    return a + (int64_t)b * 10 + c * 100 + d * 1000 + (int64_t)e * 10000 + f * 100000;
                }
                int32_t negated(int32_t a)
                {
                    return -a;
                }
                uint64_t nothing(void)
                {
                    return ~(uint64_t)0;
                }
                """);
        try (Arena arena = Arena.ofConfined()) {
            @SuppressWarnings("restricted")
            SymbolLookup symbols = SymbolLookup.libraryLookup(library, arena);
            Call.Function mixed = Call.at(symbols.findOrThrow("mixed").address());
            assertEquals(-1 + 20 - 300 - 4000 + 50000 - 600000, Call.call(mixed, -1, 2, -3, -4, 5, -6));
            assertEquals(1 + 20 + 300, Call.call(mixed, 1, 2, 3));
            Call.Function negated = Call.at(symbols.findOrThrow("negated").address());
            assertEquals(-7, (int) Call.call(negated, 7));
            assertEquals(Integer.MAX_VALUE, (int) Call.call(negated, -Integer.MAX_VALUE));
            assertEquals(-1, Call.call(Call.at(symbols.findOrThrow("nothing").address())));
            assertEquals(-1, Call.critical(Call.at(symbols.findOrThrow("nothing").address())));
        }
    }
}
