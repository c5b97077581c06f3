// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.sched.Bubble;

/**
 * The reason for which a goroutine waits: the value of {@code g.waitreason} and the text in its traceback. A new reason must be the last.
 * Texts are Go's if Go has the reason.
 */
public enum WaitReason {
    /** Not waiting. */
    ZERO(""),
    /** {@code Chan.recv}. */
    CHAN_RECEIVE("chan receive"),
    /** {@code Chan.send}. */
    CHAN_SEND("chan send"),
    /** {@code Chan.recv} on a null channel. */
    CHAN_RECEIVE_NIL("chan receive (nil chan)"),
    /** {@code Chan.send} on a null channel. */
    CHAN_SEND_NIL("chan send (nil chan)"),
    /** {@code Select.run}. */
    SELECT("select"),
    /** A select without cases. */
    SELECT_NO_CASES("select (no cases)"),
    /** {@code Go.sleep}. */
    SLEEP("sleep"),
    /** {@code WaitGroup.await}. */
    WAIT_GROUP("sync.WaitGroup.Wait"),
    /** Parked by the JDK: a lock, a monitor, a socket, {@code Thread.sleep}. */
    JDK("java"),
    /** {@code Gmp.run} and {@code Gmp.call}. */
    RUN("run"),
    /** stopTheWorld. */
    STOPPING_THE_WORLD("stopping the world"),
    /** {@code NativeEvent.await}. */
    NATIVE_EVENT("native event"),
    /** A park that no code ends, like the park of {@code LeakSearch}'s own goroutine. */
    FOREVER("forever"),
    /** A semaphore. */
    SEMACQUIRE("semacquire"),
    /** {@code Mutex.lock}. */
    MUTEX_LOCK("sync.Mutex.Lock"),
    /** {@code RWMutex.rLock}. */
    RWMUTEX_RLOCK("sync.RWMutex.RLock"),
    /** {@code RWMutex.lock}, while readers are inside. */
    RWMUTEX_LOCK("sync.RWMutex.Lock"),
    /** {@code Cond.await}. */
    COND_WAIT("sync.Cond.Wait"),
    /** {@code Synctest.await}. */
    SYNCTEST_WAIT("synctest.Wait"),
    /** {@code Chan.recv} on a channel of the goroutine's bubble. */
    CHAN_RECEIVE_DURABLE("chan receive (durable)"),
    /** {@code Chan.send} on a channel of the goroutine's bubble. */
    CHAN_SEND_DURABLE("chan send (durable)"),
    /** {@code Select.run} with channels of the goroutine's bubble only. */
    SELECT_DURABLE("select (durable)"),
    /** A connection or listener of {@code org.gmp4j.net}. */
    IO_WAIT("IO wait"),
    /** {@code Thread.sleep}. {@link JdkWait} divides {@link #JDK} into this and the following reasons. */
    JDK_SLEEP("sleep"),
    /** {@code LockSupport.park} with no blocker, or with one that has no constant here. */
    JDK_PARK("park"),
    /** The entry of a monitor that another thread owns. */
    JDK_MONITOR("monitor"),
    /** {@code Object.wait}. */
    JDK_WAIT("Object.wait"),
    /** A socket of the JDK's that has nothing to read. */
    SOCKET_READ("socket read"),
    /** A socket of the JDK's whose buffer is full. */
    SOCKET_WRITE("socket write"),
    /** A server socket of the JDK's. */
    SOCKET_ACCEPT("socket accept"),
    /** A socket of the JDK's that is being connected. */
    SOCKET_CONNECT("socket connect"),
    /** {@code Selector.select}. */
    SELECTOR("selector"),
    /** A pipe of the JDK's. */
    PIPE("pipe"),
    /** {@code Process.waitFor}. */
    PROCESS("process"),
    /** A park in a ReentrantLock. */
    PARK_LOCK("park (ReentrantLock)"),
    /** A park in a ReentrantReadWriteLock. */
    PARK_RWLOCK("park (ReentrantReadWriteLock)"),
    /** A park in a Condition, for example in a blocking queue. */
    PARK_CONDITION("park (Condition)"),
    /** A park in a Semaphore. */
    PARK_SEMAPHORE("park (Semaphore)"),
    /** A park in a CountDownLatch. */
    PARK_LATCH("park (CountDownLatch)"),
    /** A park in a CompletableFuture. */
    PARK_COMPLETABLE("park (CompletableFuture)"),
    /** A park in a FutureTask. */
    PARK_TASK("park (FutureTask)"),
    /** A park in a SynchronousQueue. */
    PARK_SYNCHRONOUS("park (SynchronousQueue)"),
    /** A park in a LinkedTransferQueue. */
    PARK_TRANSFER("park (LinkedTransferQueue)"),
    /**
     * A turn at a connection or listener of {@code org.gmp4j.net}, or the end of its other users in a close. It is not {@link #SEMACQUIRE},
     * because a goroutine outside of the bubble may end it. The text is Go's.
     */
    FD_SEMACQUIRE("semacquire");

    private static final WaitReason[] VALUES = values();

    private final String text;

    WaitReason(String text) {
        this.text = text;
    }

    /** Returns the text in a traceback. */
    public String text() {
        return text;
    }

    /** Returns whether only another goroutine of the same {@link Bubble}, or the clock of the bubble, can end the wait. */
    public boolean durable() {
        return switch (this) {
            case CHAN_RECEIVE_DURABLE, CHAN_SEND_DURABLE, CHAN_RECEIVE_NIL, CHAN_SEND_NIL, SELECT_DURABLE, SELECT_NO_CASES, SLEEP,
                    WAIT_GROUP, COND_WAIT, SEMACQUIRE, FOREVER, SYNCTEST_WAIT -> true;
            default -> false;
        };
    }

    /** Returns whether the block profile records such waits. As in Go, it records waits for channels, locks and groups. */
    public boolean profiled() {
        return switch (this) {
            case CHAN_RECEIVE, CHAN_SEND, SELECT, CHAN_RECEIVE_DURABLE, CHAN_SEND_DURABLE, SELECT_DURABLE, WAIT_GROUP, SEMACQUIRE,
                    FD_SEMACQUIRE, MUTEX_LOCK, RWMUTEX_LOCK, RWMUTEX_RLOCK, COND_WAIT -> true;
            default -> false;
        };
    }

    /** Returns whether the goroutine waits for a lock, which has a holder. */
    public boolean ofLock() {
        return this == MUTEX_LOCK || this == RWMUTEX_LOCK || this == RWMUTEX_RLOCK;
    }

    /** Returns the reason for a value of {@code g.waitreason}. */
    public static WaitReason of(int ordinal) {
        return ordinal >= 0 && ordinal < VALUES.length ? VALUES[ordinal] : ZERO;
    }
}
