// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import static org.gmp4j.stack.JdkState.Wait.MONITOR;
import static org.gmp4j.stack.JdkState.Wait.NONE;
import static org.gmp4j.stack.JdkState.Wait.OBJECT_WAIT;
import static org.gmp4j.stack.JdkState.Wait.PARKED;
import static org.gmp4j.stack.JdkState.Wait.PARKED_FOR_A_TIME;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

import org.gmp4j.stack.JdkState;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The table of {@link JdkWait}. */
class JdkWaitTest {
    private static void row(String expected, JdkState.Wait state, @Nullable Class<?> blocker, @Nullable WaitReason descriptor) {
        assertEquals(expected, JdkWait.text(JdkWait.of(state, blocker, descriptor), blocker));
    }

    private static final class Nested {
        private static final class Deeper {
        }
    }

    @Test
    void byState() throws ClassNotFoundException {
        String locks = "java.util.concurrent.locks.";
        row("monitor", MONITOR, null, null);
        row("Object.wait", OBJECT_WAIT, null, null);
        row("park", PARKED, null, null);
        row("sleep", PARKED_FOR_A_TIME, null, null);
        row("java", NONE, null, null);
        row("socket read", PARKED, null, WaitReason.SOCKET_READ);
        row("socket accept", PARKED_FOR_A_TIME, null, WaitReason.SOCKET_ACCEPT);
        row("park (ReentrantLock)", PARKED, Class.forName(locks + "ReentrantLock$NonfairSync"), null);
        row("park (ReentrantLock)", PARKED, Class.forName(locks + "ReentrantLock$FairSync"), null);
        row("park (Condition)", PARKED_FOR_A_TIME, Class.forName(locks + "AbstractQueuedSynchronizer$ConditionObject"), null);
        row("park (Phaser)", PARKED, Class.forName("java.util.concurrent.Phaser$QNode"), null);
        row("monitor", MONITOR, ReentrantLock.class, null); // A blocker that was left there.
    }

    /** A blocker of the program's has its class, that around it if it is nested, and that around its lambda. */
    @Test
    void otherBlockers() {
        Runnable lambda = () -> { };
        row("park (JdkWaitTest)", PARKED, JdkWaitTest.class, null);
        row("park (JdkWaitTest)", PARKED, Nested.Deeper.class, null);
        row("park (JdkWaitTest)", PARKED, lambda.getClass(), null);
        row("park (String)", PARKED, String.class, null);
    }

    /** A switch over the states would be a class of its own, which sysmon could not initialise while the heap is full. */
    @Test
    void needsNoFurtherClass() throws IOException {
        try (InputStream in = JdkWait.class.getResourceAsStream("JdkWait.class")) {
            assertFalse(new String(in.readAllBytes(), StandardCharsets.ISO_8859_1).contains("JdkWait$"));
        }
    }

    private static @Nullable String frames(String... frames) {
        WaitReason r = JdkWait.of(Stream.of(frames).map(f -> new StackTraceElement(f.substring(0, f.lastIndexOf('.')),
                f.substring(f.lastIndexOf('.') + 1), null, -1)).toArray(StackTraceElement[]::new));
        return r == null ? null : r.text();
    }

    @Test
    void byFrames() {
        String park = "java.lang.System$1.parkVirtualThread";
        String poll = "sun.nio.ch.Poller.poll";
        assertEquals("sleep", frames("java.lang.VirtualThread.parkNanos", "java.lang.Thread.sleepNanos", "java.lang.Thread.sleep", "X.x"));
        assertEquals("socket read", frames(park, poll, poll, "sun.nio.ch.NioSocketImpl.park", "sun.nio.ch.NioSocketImpl.implRead", "X.x"));
        assertEquals("socket write", frames(park, poll, "sun.nio.ch.SocketChannelImpl.write", "X.x"));
        assertEquals("socket write", frames(park, poll, "sun.nio.ch.DatagramChannelImpl.send", "X.x"));
        assertEquals("socket read", frames(park, poll, "sun.nio.ch.DatagramChannelImpl.receive", "X.x"));
        assertEquals("socket accept", frames(park, poll, "sun.nio.ch.NioSocketImpl.park", "sun.nio.ch.NioSocketImpl.accept", "X.x"));
        assertEquals("socket connect", frames(park, poll, "sun.nio.ch.SocketChannelImpl.finishConnect", "X.x"));
        assertEquals("selector", frames(park, poll, "sun.nio.ch.Poller.pollSelector", "sun.nio.ch.EPollSelectorImpl.doSelect", "X.x"));
        assertEquals("pipe", frames(park, poll, "sun.nio.ch.SourceChannelImpl.read", "X.x"));
        assertEquals("process", frames(park, "java.util.concurrent.locks.LockSupport.park", "java.lang.ProcessImpl.waitFor", "X.x"));
        assertNull(frames(park, "java.util.concurrent.locks.LockSupport.park", "X.read"));
        assertNull(frames(park, "sun.nio.ch.SocketChannelImpl.read", "X.x")); // It waits for the channel's lock, not for bytes.
        assertNull(frames());
    }
}
