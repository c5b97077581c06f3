// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.util.HashMap;
import java.util.Map;

import org.gmp4j.stack.JdkState;
import org.jspecify.annotations.Nullable;

/**
 * Finds out why a virtual thread waits in the JDK, from the thread's frames and state, when a reader asks. So the wait itself has no extra
 * cost. The first row that applies decides:
 *
 * <table>
 * <caption>Reasons</caption>
 * <tr><th>frames, if they were read</th><th>state</th><th>descriptor in the poller</th><th>blocker</th><th>reason</th></tr>
 * <tr><td>{@code Thread.sleep}, a socket, a selector, a pipe, a process</td><td></td><td></td><td></td><td>the reason
 * that the frames show</td></tr>
 * <tr><td></td><td>blocked</td><td></td><td></td><td>monitor</td></tr>
 * <tr><td></td><td>waiting</td><td></td><td></td><td>Object.wait</td></tr>
 * <tr><td></td><td>runnable</td><td></td><td></td><td>java</td></tr>
 * <tr><td></td><td>parked</td><td>one</td><td></td><td>socket read, write, accept, connect; selector; pipe</td></tr>
 * <tr><td></td><td>parked</td><td>none</td><td>one</td><td>park (its class)</td></tr>
 * <tr><td></td><td>parked with a limit of time</td><td>none</td><td>none</td><td>sleep</td></tr>
 * <tr><td></td><td>parked</td><td>none</td><td>none</td><td>park</td></tr>
 * </table>
 */
public final class JdkWait {
    /**
     * The number of frames, innermost first, that are searched for the reason. The frame that shows the reason is always among them,
     * because the JDK has fewer than {@value #TOP} frames above it.
     */
    private static final int TOP = 16;
    private static final Map<String, WaitReason> BLOCKERS = new HashMap<>();

    static {
        String concurrent = "java.util.concurrent.";
        BLOCKERS.put(concurrent + "locks.ReentrantLock", WaitReason.PARK_LOCK);
        BLOCKERS.put(concurrent + "locks.ReentrantLock$NonfairSync", WaitReason.PARK_LOCK);
        BLOCKERS.put(concurrent + "locks.ReentrantLock$FairSync", WaitReason.PARK_LOCK);
        BLOCKERS.put(concurrent + "locks.ReentrantReadWriteLock$NonfairSync", WaitReason.PARK_RWLOCK);
        BLOCKERS.put(concurrent + "locks.ReentrantReadWriteLock$FairSync", WaitReason.PARK_RWLOCK);
        BLOCKERS.put(concurrent + "locks.AbstractQueuedSynchronizer$ConditionObject", WaitReason.PARK_CONDITION);
        BLOCKERS.put(concurrent + "locks.AbstractQueuedLongSynchronizer$ConditionObject", WaitReason.PARK_CONDITION);
        BLOCKERS.put(concurrent + "Semaphore$NonfairSync", WaitReason.PARK_SEMAPHORE);
        BLOCKERS.put(concurrent + "Semaphore$FairSync", WaitReason.PARK_SEMAPHORE);
        BLOCKERS.put(concurrent + "CountDownLatch$Sync", WaitReason.PARK_LATCH);
        BLOCKERS.put(concurrent + "CompletableFuture$Signaller", WaitReason.PARK_COMPLETABLE);
        BLOCKERS.put(concurrent + "FutureTask", WaitReason.PARK_TASK);
        BLOCKERS.put(concurrent + "ThreadPerTaskExecutor$ThreadBoundFuture", WaitReason.PARK_TASK);
        BLOCKERS.put(concurrent + "SynchronousQueue", WaitReason.PARK_SYNCHRONOUS);
        BLOCKERS.put(concurrent + "SynchronousQueue$Transferer", WaitReason.PARK_SYNCHRONOUS);
        BLOCKERS.put(concurrent + "LinkedTransferQueue", WaitReason.PARK_TRANSFER);
    }

    private JdkWait() {
    }

    /**
     * Returns the reason of a wait. Allocates nothing.
     *
     * @param state the state of the thread
     * @param blocker the class of the object for which it is parked; null for none
     * @param descriptor the reason that the thread's descriptor in a poller shows; null without a descriptor
     */
    public static WaitReason of(JdkState.Wait state, @Nullable Class<?> blocker, @Nullable WaitReason descriptor) {
        // For a switch javac would make a class. If the first call came when the heap was full, the initialiser of that class would fail,
        // and the class would stay unusable.
        if (state == JdkState.Wait.MONITOR) {
            return WaitReason.JDK_MONITOR;
        }
        if (state == JdkState.Wait.OBJECT_WAIT) {
            return WaitReason.JDK_WAIT;
        }
        if (state == JdkState.Wait.NONE) {
            return WaitReason.JDK;
        }
        if (descriptor != null) {
            return descriptor;
        }
        if (blocker != null) {
            return BLOCKERS.getOrDefault(blocker.getName(), WaitReason.JDK_PARK);
        }
        return state == JdkState.Wait.PARKED ? WaitReason.JDK_PARK : WaitReason.JDK_SLEEP;
    }

    /**
     * Returns the text of a reason from {@link #of}. The text of {@link WaitReason#JDK_PARK} has the class of the blocker, as in
     * {@code park (Phaser)}.
     */
    public static String text(WaitReason reason, @Nullable Class<?> blocker) {
        return reason != WaitReason.JDK_PARK || blocker == null ? reason.text() : "park (" + outermost(blocker.getName()) + ")";
    }

    /** Returns the simple name of a class; for a nested class or a lambda, the name of the class around it. */
    private static String outermost(String name) {
        String simple = name.substring(name.lastIndexOf('.', name.indexOf('/') < 0 ? name.length() : name.indexOf('/')) + 1);
        int nested = simple.indexOf('$', 1); // A name may begin with $.
        return nested < 0 ? simple : simple.substring(0, nested);
    }

    /**
     * Returns the reason that the frames of a waiting thread show.
     *
     * @param frames the thread's frames, innermost first
     * @return null when the frames show no reason
     */
    public static @Nullable WaitReason of(StackTraceElement[] frames) {
        boolean polls = false;
        for (int i = 0; i < Math.min(TOP, frames.length); i++) {
            String type = frames[i].getClassName();
            String method = frames[i].getMethodName();
            if (type.equals("java.lang.Thread") && method.startsWith("sleep")) {
                return WaitReason.JDK_SLEEP;
            }
            if (type.equals("java.lang.ProcessImpl") && method.equals("waitFor")) {
                return WaitReason.PROCESS;
            }
            if (type.equals("sun.nio.ch.Poller")) {
                polls = true;
            } else if (polls && type.startsWith("sun.nio.ch.")) {
                WaitReason reason = ofChannel(type, method);
                if (reason != null) {
                    return reason;
                }
            }
        }
        return null;
    }

    /** Returns the reason that a frame of a channel or a socket, below the poller's frame, shows; null when it shows none. */
    private static @Nullable WaitReason ofChannel(String type, String method) {
        if (type.endsWith("SelectorImpl")) {
            return WaitReason.SELECTOR;
        }
        if (type.endsWith("SourceChannelImpl") || type.endsWith("SinkChannelImpl")) {
            return WaitReason.PIPE;
        }
        String m = method.toLowerCase(java.util.Locale.ROOT);
        return m.contains("accept") ? WaitReason.SOCKET_ACCEPT
                : m.contains("connect") ? WaitReason.SOCKET_CONNECT
                : m.contains("read") || m.contains("receive") ? WaitReason.SOCKET_READ
                : m.contains("write") || m.contains("send") ? WaitReason.SOCKET_WRITE : null;
    }
}
