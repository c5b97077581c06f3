// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.reflect.Field;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.StackChunk;
import jdk.internal.vm.StackableScope;
import jdk.internal.vm.ThreadContainer;
import org.jspecify.annotations.Nullable;

/**
 * What {@link JdkThreads} calls of private members of {@code java.lang.VirtualThread} and {@code Thread}, and reads of {@code
 * Continuation}; implemented by {@link JdkMembers}. A {@code Thread} is a {@code VirtualThread} unless said otherwise. Reads and
 * writes are of the fields' own mode, volatile for all words of state, unless the name says otherwise.
 */
abstract class ThreadCalls {
    /** The implementation's one object, which its initialiser puts here. */
    @SuppressWarnings("NullAway.Init")
    static ThreadCalls made;

    abstract Thread newVirtualThread(Executor scheduler, String name, Runnable body);

    abstract void mount(Thread vt);

    abstract void unmount(Thread vt);

    /** The part of {@code unmount} that a host needs which waits out interrupters itself. */
    abstract void unmountLight(Thread vt, Thread carrier);

    abstract boolean yieldContinuation(Thread vt);

    abstract void afterYield(Thread vt);

    abstract void afterDone(Thread vt);

    /** Whether {@code afterDone} takes the thread's monitor, to wake threads that join it. */
    abstract boolean notifyAllAfterTerminate(Thread vt);

    abstract void cancelTimeoutTask(Thread vt);

    abstract void submitRunContinuation(Thread vt);

    /** How long its present wait may last: nanoseconds for a park, milliseconds for {@code Object.wait}. */
    abstract long timeout(Thread vt);

    abstract void setTimeoutTask(Thread vt, Future<?> task);

    /** The lock under which the number below is read and written. */
    abstract Object timedWaitLock(Thread vt);

    abstract int timedWaitSeqNo(Thread vt);

    abstract void setTimedWaitSeqNo(Thread vt, int number);

    /** {@code number} is a byte's. */
    abstract void waitTimeoutExpired(Thread vt, int number);

    /** Tells the JVM that the thread begins to unmount, as {@code mount} and {@code unmount} tell it of the other ends of a switch. */
    abstract void startUnmount(Thread vt);

    abstract void endUnmount(Thread vt);

    abstract void endMount(Thread vt);

    abstract Continuation cont(Thread vt);

    abstract Runnable runContinuation(Thread vt);

    abstract Executor scheduler(Thread vt);

    /** Of a thread that nobody else looks at yet: the field is final. */
    abstract void setScheduler(Thread vt, Executor scheduler);

    abstract Executor defaultScheduler();

    abstract int state(Thread vt);

    abstract void setState(Thread vt, int state);

    abstract void setStateRelease(Thread vt, int state);

    abstract boolean casState(Thread vt, int from, int to);

    abstract boolean parkPermit(Thread vt);

    abstract void setParkPermit(Thread vt, boolean permit);

    abstract boolean getAndSetParkPermit(Thread vt, boolean permit);

    abstract boolean blockPermit(Thread vt);

    abstract void setBlockPermit(Thread vt, boolean permit);

    abstract boolean notified(Thread vt);

    /** Whether an interrupt ends its present {@code Object.wait}. */
    abstract boolean interruptibleWait(Thread vt);

    abstract Thread carrier(Thread vt);

    /** Of any thread, as the following. */
    abstract boolean interrupted(Thread t);

    abstract Object interruptLock(Thread t);

    abstract Object threadLocals(Thread t);

    abstract Object inheritableThreadLocals(Thread t);

    /** Both. */
    abstract void clearThreadLocals(Thread t);

    abstract void setContainer(Thread t, ThreadContainer container);

    abstract StackableScope scopes(Thread t);

    abstract boolean casName(Thread t, String from, String to);

    /** What a virtual thread's continuation was made to run: the task that the thread was made with. */
    abstract Runnable task(Continuation c);

    /** Before it ever ran: the field is final. */
    abstract void setTask(Continuation c, Runnable task);

    /** Where a continuation's frames are, newest first. */
    abstract StackChunk tail(Continuation c);

    abstract void setTail(Continuation c, StackChunk tail);

    /** How much of a chunk holds frames, in words. */
    abstract int used(StackChunk c);

    /** How often an agent has changed a class after it was loaded. The JVM counts at a safepoint, so a plain read sees it. */
    abstract int redefined(Class<?> c);

    abstract boolean shouldBeInitialized(Class<?> c);

    /** Where a field of an instance is, for {@link #get}. */
    abstract long offset(Field f);

    abstract Object get(Object o, long offset);

    /** Sets such a field, even a final one. */
    abstract void put(Object o, long offset, @Nullable Object value);

    /** Opens a package of a module to another. */
    abstract void open(Module m, String packageName, Module to);
}
