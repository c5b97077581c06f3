// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.context;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.function.BooleanSupplier;

import org.gmp4j.Cancelable;
import org.gmp4j.Chan;
import org.gmp4j.sched.GStack;
import org.gmp4j.timer.TimeBubble;
import org.jspecify.annotations.Nullable;

/**
 * An object that a caller passes to a piece of work: a cancel signal, a deadline and values. Contexts form a tree, in which each method
 * {@code with…} makes a child. The cancel of a context also cancels all contexts below it, but none above.
 *
 * <p>Immutable except for its cancel. Thread-safe. Goroutines and other threads may use it. Code that makes a context with a cancel or a
 * deadline must cancel it when the work is done: its parent refers to it until then, or until the deadline.
 *
 * <pre>{@code
 * try (Context ctx = parent.withTimeout(Duration.ofSeconds(1))) {
 *     Reply r = replies.recvUnless(ctx); // Throws DEADLINE_EXCEEDED when no reply came.
 * }
 * }</pre>
 *
 * <p>Each wait of this library has a form that takes a context: {@code recvUnless(ctx)}, {@code Select.runUnless(ctx)}, {@code
 * lockUnless(ctx)}, {@code Go.sleepUnless(ctx, d)}. {@link #watchOnly} is for code that may wait for the end but must not cancel. If
 * another thread cancels contexts of the same tree, {@link #cancel} and {@link #close} wait until it has done so. An interrupt does not
 * end that wait. In a bubble of {@code Synctest} deadlines go by the bubble's clock, and only goroutines of the bubble may cancel a context
 * that was made there.
 *
 * <p>Source: Go's package {@code context}.
 */
public final class Context implements Cancelable, AutoCloseable {
    /** The result of {@link #err} after {@link #cancel}: "context canceled". */
    public static final ContextException CANCELED = new ContextException.Canceled();
    /** The result of {@link #err} after the deadline: "context deadline exceeded". */
    public static final ContextException DEADLINE_EXCEEDED = new ContextException.DeadlineExceeded();

    private static final Context BACKGROUND = new Context(null, null, false, null, null, null, "context.Background");
    private static final Context TODO = new Context(null, null, false, null, null, null, "context.TODO");

    /** The context in which the search for a value continues; null for none. */
    private final @Nullable Context parent;
    /** The cancellation of this context, or of the nearest one above; null if this cannot be cancelled. */
    private final @Nullable Cancellation cancellation;
    private final boolean own;
    private final @Nullable Instant deadline;
    private final @Nullable Object key;
    private final @Nullable Object value;
    private final String name;

    private Context(@Nullable Context parent, @Nullable Cancellation cancellation, boolean own, @Nullable Instant deadline,
            @Nullable Object key, @Nullable Object value, String name) {
        this.parent = parent;
        this.cancellation = cancellation;
        this.own = own;
        this.deadline = deadline;
        this.key = key;
        this.value = value;
        this.name = name;
    }

    /** Returns the root, which is never cancelled and has no deadline and no values. */
    public static Context background() {
        return BACKGROUND;
    }

    /** Makes a child with a {@link #cancel} of its own. */
    public Context withCancel() {
        return child(deadline, "WithCancel");
    }

    private Context child(@Nullable Instant until, String kind) {
        Cancellation fresh = new Cancellation();
        Context made = new Context(this, fresh, true, until, null, null, kind);
        if (cancellation != null) {
            cancellation.add(fresh); // This is the last step that may fail; no other code has the child yet.
        }
        return made;
    }

    /** Returns another root, for callers that have no context to pass on yet. */
    public static Context todo() {
        return TODO;
    }

    /** Makes a child that is cancelled {@code d} from now, or earlier by {@link #cancel}. */
    public Context withTimeout(Duration d) {
        return withTimeout(d, null);
    }

    /**
     * Makes a child as {@link #withTimeout(Duration)} does. When the time is up, its {@link #cause} returns {@code cause}.
     *
     * @param cause the cause; null for {@link #DEADLINE_EXCEEDED}
     */
    public Context withTimeout(Duration d, @Nullable Throwable cause) {
        GStack.checkAll(); // A class of the JDK whose initialiser overflows the stack can never be used again.
        Instant at;
        try {
            at = TimeBubble.instant().plus(d);
        } catch (ArithmeticException | java.time.DateTimeException e) {
            at = d.isNegative() ? Instant.MIN : Instant.MAX;
        }
        return withDeadline(at, d, cause);
    }

    /** Makes a child that is cancelled at {@code at}, or earlier by {@link #cancel}. If {@code at} has passed, it is cancelled at once. */
    public Context withDeadline(Instant at) {
        return withDeadline(at, null);
    }

    /**
     * Makes a child as {@link #withDeadline(Instant)} does. When the time is up, its {@link #cause} returns {@code cause}.
     *
     * @param cause the cause; null for {@link #DEADLINE_EXCEEDED}
     */
    public Context withDeadline(Instant at, @Nullable Throwable cause) {
        GStack.checkAll(); // withTimeout says why.
        return withDeadline(at, TimeBubble.instant().until(at), cause);
    }

    @SuppressWarnings("NullAway") // A child has a cancellation.
    private Context withDeadline(Instant at, Duration left, @Nullable Throwable cause) {
        if (deadline != null && deadline.isBefore(at)) {
            return withCancel(); // The deadline of this context is earlier.
        }
        Context c = child(at, "WithDeadline");
        if (!left.isPositive()) {
            c.cancellation.cancel(DEADLINE_EXCEEDED, cause);
        } else if (c.cancellation.err() == null) {
            boolean set = false;
            try {
                c.cancellation.expire(left, cause);
                set = true;
            } finally {
                if (!set) {
                    Cancellation.leave(c.cancellation);
                }
            }
        }
        return c;
    }

    /**
     * Makes a child in which {@code value(key)} is {@code value}.
     *
     * @throws NullPointerException "nil key"
     */
    public Context withValue(Object key, @Nullable Object value) {
        Objects.requireNonNull(key, "nil key");
        return new Context(this, cancellation, false, deadline, key, value, "WithValue(" + key + ")");
    }

    /**
     * A key of values of type {@code T}. No two keys are equal, even if they have the same name.
     *
     * @param <T> the type of the values
     */
    public static final class Key<T> {
        private final String name;

        private Key(String name) {
            this.name = Objects.requireNonNull(name, "name");
        }

        /** Makes a new key. */
        public static <T> Key<T> of(String name) {
            return new Key<>(name);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** Makes a child as {@link #withValue(Object, Object)} does, with a type that the compiler checks. */
    public <T> Context withValue(Key<T> key, @Nullable T value) {
        return withValue((Object) key, value);
    }

    /** Returns the value as {@link #value(Object)} does, with its type. */
    @SuppressWarnings("unchecked")
    public <T> @Nullable T value(Key<T> key) {
        return (T) value((Object) key);
    }

    /**
     * Makes a child that has the values of this context and is never cancelled: its {@link #done}, {@link #deadline} and {@link #err} are
     * null.
     */
    public Context withoutCancel() {
        return new Context(this, null, false, null, null, null, "WithoutCancel");
    }

    /** Returns the value under an equal key here or in the nearest context above; null when there is none. */
    public @Nullable Object value(Object key) {
        for (Context c = this; c != null; c = c.parent) {
            if (c.key != null && c.key.equals(key)) {
                return c.value;
            }
        }
        return null;
    }

    /** Returns the time when this will be cancelled; null when no deadline is set. */
    public @Nullable Instant deadline() {
        return deadline;
    }

    /**
     * Cancels this context and all contexts below, in a tree of any size and depth. If another call has cancelled it, or is doing so, this
     * only waits until all contexts below are cancelled, too. When it returns, the functions of {@link #afterFunc} have been started, and
     * may still be running.
     *
     * @throws UnsupportedOperationException when neither withCancel, withTimeout nor withDeadline made this context
     */
    public void cancel() {
        cancel(null);
    }

    /**
     * Cancels as {@link #cancel()} does, and sets the result of {@link #cause} of this context and of all contexts below.
     *
     * @param cause the cause; null for {@link #CANCELED}
     */
    public void cancel(@Nullable Throwable cause) {
        if (!own || cancellation == null) {
            throw new UnsupportedOperationException(this + " cannot be cancelled: make a child withCancel");
        }
        GStack.checkAllToGive(); // A stack overflow must not leave only some of the contexts cancelled.
        cancellation.cancel(CANCELED, cause);
    }

    /** Cancels, for {@code try}-with-resources. It does nothing if {@link #cancel} would throw, for instance after {@link #withValue}. */
    @Override
    public void close() {
        if (own) {
            cancel();
        }
    }

    /** Returns a view of this context for code that must not cancel it: its {@link #cancel} throws. */
    public Context watchOnly() {
        return new Context(this, cancellation, false, deadline, null, null, "WatchOnly");
    }

    /**
     * Returns a channel that is closed when this is cancelled, always the same one; null when this cannot be cancelled. A user that closes
     * the channel gets an {@link IllegalStateException}.
     */
    public @Nullable Chan<Void> done() {
        return cancellation == null ? null : cancellation.done();
    }

    /** Returns null until this is cancelled, and then {@link #CANCELED} or {@link #DEADLINE_EXCEEDED}. */
    @Override
    public @Nullable ContextException err() {
        return cancellation == null ? null : cancellation.err();
    }

    /** Returns null until this is cancelled, and then the cause of the cancel or the deadline, or {@link #err} if they have none. */
    public @Nullable Throwable cause() {
        return cancellation == null ? null : cancellation.cause();
    }

    /**
     * Starts {@code f} in a goroutine of its own when this is cancelled, or at once if it is cancelled already. If the caller is not a
     * goroutine, {@code f} runs in a virtual thread.
     *
     * @return a function that unregisters {@code f}, and does not wait for an {@code f} that runs. It returns true if {@code f} will not
     *     start, and false if {@code f} was started or removed before
     */
    public BooleanSupplier afterFunc(Runnable f) {
        Cancellation.AfterFunc a = new Cancellation.AfterFunc(f);
        if (cancellation != null) {
            cancellation.add(a);
        }
        return a;
    }

    @Override
    public BooleanSupplier whenCancelled(Runnable quick) {
        Cancellation.Told t = new Cancellation.Told(quick);
        if (cancellation != null) {
            cancellation.add(t);
        }
        return t;
    }

    /** Returns whether this has children, or a timer is set. For tests. */
    boolean holdsAnything() {
        return cancellation != null && cancellation.holdsAnything();
    }

    @Override
    public String toString() {
        Deque<String> names = new ArrayDeque<>(); // No recursion: the tree may be deep.
        for (Context c = this; c != null; c = c.parent) {
            names.push(c.name);
        }
        return String.join(".", names);
    }
}
