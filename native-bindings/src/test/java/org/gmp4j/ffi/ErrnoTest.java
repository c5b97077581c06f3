// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ErrnoTest {
    @Test
    void texts() {
        assertEquals("EAGAIN", Errno.name(Errno.EAGAIN));
        assertEquals("ETIMEDOUT (Connection timed out)", Errno.describe(Errno.ETIMEDOUT));
        assertEquals("errno 9999", Errno.describe(9999));
        assertEquals("errno -1", Errno.describe(-1));
    }

    @Test
    void exception() {
        NativeException e = new NativeException("open(/x)", Errno.ENOENT);
        assertEquals("open(/x) failed: ENOENT (No such file or directory)", e.getMessage());
        assertEquals("open(/x)", e.call());
        assertEquals(Errno.ENOENT, e.errno());
    }
}
