// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.print;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ThrowableTextTest {
    /** An error of user code, which may resist all questions. */
    private static final class Resists extends OutOfMemoryError {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalStateException();
        }
    }

    @Test
    void errorsOfTheHeap() {
        assertTrue(ThrowableText.isHeap(new OutOfMemoryError("Java heap space")));
        assertTrue(ThrowableText.isHeap(new OutOfMemoryError("GC overhead limit exceeded")));
        assertTrue(ThrowableText.isHeap(new OutOfMemoryError()));
        assertFalse(ThrowableText.isHeap(new OutOfMemoryError("Metaspace")));
        assertFalse(ThrowableText.isHeap(new IllegalStateException("Java heap space")));
        assertFalse(ThrowableText.isHeap(new Resists()));
    }
}
