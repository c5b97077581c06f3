// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;

class MemoryTest {
    private static final int SIZE = 1 << 16;

    @Test
    void mappedMemoryIsZeroAndWritable() {
        long addr = Memory.map(SIZE);
        assertEquals(0, addr % 4096);
        for (int i = 0; i < SIZE; i += 8) {
            assertEquals(0, AddressSpace.ALL.get(ValueLayout.JAVA_LONG, addr + i));
        }
        AddressSpace.ALL.set(ValueLayout.JAVA_LONG, addr + SIZE - 8, 42);
        assertEquals(42, AddressSpace.ALL.get(ValueLayout.JAVA_LONG, addr + SIZE - 8));
        Memory.unmap(addr, SIZE);
    }

    @Test
    void aTerabyteCostsNothingUntilItIsTouched() {
        long addr = Memory.map(1L << 40);
        AddressSpace.ALL.set(ValueLayout.JAVA_BYTE, addr + (1L << 40) - 1, (byte) 1);
        Memory.unmap(addr, 1L << 40);
    }

    @Test
    void dontneedGivesBack() {
        long addr = Memory.map(SIZE);
        AddressSpace.ALL.set(ValueLayout.JAVA_INT, addr, 42);
        Memory.advise(addr, SIZE, Memory.ADVICE_DONTNEED);
        assertEquals(0, AddressSpace.ALL.get(ValueLayout.JAVA_INT, addr));
        Memory.unmap(addr, SIZE);
    }

    @Test
    void protectAndUnmap() throws IOException {
        long addr = Memory.map(SIZE);
        Memory.protect(addr, SIZE, Memory.PROTECT_NONE);
        assertEquals("---p", permissions(addr));
        Memory.protect(addr, SIZE, Memory.PROTECT_READ);
        assertEquals("r--p", permissions(addr));
        Memory.protect(addr, SIZE, Memory.PROTECT_READ_WRITE);
        assertEquals("rw-p", permissions(addr));
        Memory.unmap(addr, SIZE);
        assertEquals("none", permissions(addr));
    }

    private static String permissions(long addr) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            String[] words = line.split("[ -]", 3);
            if (Long.parseUnsignedLong(words[0], 16) <= addr && addr < Long.parseUnsignedLong(words[1], 16)) {
                return words[2].substring(0, 4);
            }
        }
        return "none";
    }

    @Test
    void errorsNameTheCall() {
        assertEquals(
                "mmap(0 bytes) failed: EINVAL (Invalid argument)",
                assertThrows(NativeException.class, () -> Memory.map(0)).getMessage());
        assertEquals(
                "mmap(4611686018427387904 bytes) failed: ENOMEM (Cannot allocate memory)",
                assertThrows(NativeException.class, () -> Memory.map(1L << 62)).getMessage());
        long addr = Memory.map(SIZE);
        String at = "(0x" + Long.toHexString(addr) + ", " + SIZE + " bytes) failed: EINVAL (Invalid argument)";
        assertEquals(
                "madvise" + at,
                assertThrows(NativeException.class, () -> Memory.advise(addr, SIZE, 9999)).getMessage());
        assertEquals(
                "mprotect" + at,
                assertThrows(NativeException.class, () -> Memory.protect(addr, SIZE, 1 << 20)).getMessage());
        assertEquals(
                "munmap" + at.replace(Long.toHexString(addr), Long.toHexString(addr + 1)),
                assertThrows(NativeException.class, () -> Memory.unmap(addr + 1, SIZE)).getMessage());
        Memory.unmap(addr, SIZE);
    }

    @Test
    void bindToNode() throws IOException {
        long addr = Memory.map(SIZE);
        Path numaMaps = Path.of("/proc/self/numa_maps");
        try {
            Memory.bindToNode(addr, SIZE, 0);
        } catch (NativeException e) {
            assumeTrue(e.errno() != Errno.ENOSYS && e.errno() != Errno.EPERM, "no mbind here");
            throw e;
        }
        assumeTrue(Files.exists(numaMaps), "a kernel without NUMA");
        assertTrue(
                Files.readString(numaMaps).contains(String.format("%x prefer:0", addr)),
                "the policy is not on the range");
        assertFalse(Files.readString(numaMaps).contains(String.format("%x bind", addr)));
        for (int bad : new int[] {-1, 1023, 1024}) {
            NativeException e = assertThrows(NativeException.class, () -> Memory.bindToNode(addr, SIZE, bad));
            assertEquals(
                    "mbind(0x" + Long.toHexString(addr) + ", 65536 bytes, node " + bad
                            + ") failed: EINVAL (Invalid argument)",
                    e.getMessage());
        }
        Memory.unmap(addr, SIZE);
    }
}
