// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.net.BindException;

import org.gmp4j.ffi.Errno;
import org.junit.jupiter.api.Test;

class ErrorsTest {
    /** What passes when others close theirs has a type of its own. */
    @Test
    void noRoomJustNow() {
        for (int error : new int[] {Errno.EMFILE, Errno.ENFILE, Errno.ENOBUFS, Errno.ENOMEM}) {
            Exception e = assertInstanceOf(ExhaustedException.class, Errors.of("write", "tcp x", error, 0));
            assertEquals("write tcp x: " + Errno.describe(error), e.getMessage());
        }
    }

    /** Of epoll_ctl, where the kernel's own words would mislead: nothing is full that could be emptied on a disk. */
    @Test
    void noRoomInEpoll() {
        for (String op : new String[] {"read", "write", "accept", "dial"}) {
            Exception e = assertInstanceOf(ExhaustedException.class, Errors.of(op, "tcp x", Errno.ENOSPC, 0));
            assertEquals(op + " tcp x: the system's limit of descriptors that are watched is reached"
                    + " (/proc/sys/fs/epoll/max_user_watches)", e.getMessage());
        }
        Exception e = assertInstanceOf(BindException.class, Errors.of("listen", "unix /x", Errno.ENOSPC, 0));
        assertEquals("listen unix /x: ENOSPC (No space left on device)", e.getMessage());
    }
}
