// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import java.lang.StackWalker.StackFrame;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

import org.gmp4j.stack.JdkThreads;
import org.jspecify.annotations.Nullable;

/** The names in one trace, or in one scheduler's records. They are numbered from 1; 0 stands for no name. Thread-safe. */
public final class Names {
    private static final int MOST = (1 << Ev.DETAIL_BITS) - 1;
    /** The entry in {@link #sites} of a class whose functions may be started at several places. */
    private static final int WALK = -1;
    private static final ProtectionDomain OURS = Names.class.getProtectionDomain();
    /** The greatest number of frames of the executor's jar, including the frame that starts the goroutine, above the executor's frame. */
    private static final int HELPERS = 2;
    private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    private final ConcurrentHashMap<String, Integer> numbers = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Class<?>, Integer> sites = new ConcurrentHashMap<>();
    private final List<String> names = new ArrayList<>(List.of(""));

    /** Returns the number of a name; 0 when there are too many names. */
    public int number(String name) {
        Integer n = numbers.get(name);
        return n != null ? n : add(name);
    }

    private synchronized int add(String name) {
        Integer n = numbers.get(name);
        if (n == null) {
            if (names.size() > MOST) {
                return 0;
            }
            n = names.size();
            names.add(name);
            numbers.put(name, n);
        }
        return n;
    }

    /** Returns the name with this number; null for 0. */
    public synchronized @Nullable String name(int number) {
        return number == 0 ? null : names.get(number);
    }

    /** Returns all names, in the order of their numbers. */
    public synchronized List<String> all() {
        return List.copyOf(names);
    }

    /**
     * Returns the number of the place where the caller starts a goroutine. Each lambda expression of a program has a class of its own, so
     * its place is looked up only once. For other functions this walks the stack each time, which takes some microseconds. If an executor
     * starts the goroutine, the place is the call of the executor. If no frame belongs to the program, for example when a server of the JDK
     * starts the goroutine, the class of the function stands for the place. Must not be called inside a section of the runtime, because it
     * may take locks of the JDK.
     */
    public int site(Object fn) {
        Class<?> c = fn.getClass();
        Integer known = sites.get(c);
        if (known != null && known != WALK) {
            return known;
        }
        Place p = WALKER.walk(s -> place(s.filter(x -> isUsers(x.getDeclaringClass())).iterator()));
        int n = number(p.frame == null ? name(fn) : text(p.frame.toStackTraceElement()));
        if (known == null) {
            boolean one = c.isHidden() && c.getProtectionDomain() != OURS && !p.byExecutor;
            sites.put(c, one ? n : WALK);
        }
        return n;
    }

    /**
     * A place where a goroutine is started.
     *
     * @param frame the frame; null when no frame belongs to the program
     * @param byExecutor whether the frame called an executor, which started the goroutine
     */
    private record Place(@Nullable StackFrame frame, boolean byExecutor) {
    }

    /** Returns the first frame of the program, or, if that is inside an executor, the frame that called the executor. */
    private static Place place(Iterator<StackFrame> frames) {
        StackFrame first = null;
        boolean executes = false;
        for (int n = 0; frames.hasNext(); n++) {
            StackFrame f = frames.next();
            first = first == null ? f : first;
            boolean executor = isExecutor(f);
            if (executes && !executor) {
                return new Place(f, true);
            }
            if (!executes && !startsFor(f, executor, first, n)) {
                return new Place(first, false);
            }
            executes |= executor && f.getMethodName().equals("execute");
        }
        return executes ? new Place(null, true) : new Place(first, false);
    }

    /**
     * Returns whether the first frame may have started the goroutine for an executor in frame {@code f}, number {@code n}, or in a later
     * frame. An executor of another jar may instead have run, on the calling thread, a task that has started the goroutine.
     */
    private static boolean startsFor(StackFrame f, boolean executor, StackFrame first, int n) {
        return executor && isExecutor(first) || ofOneJar(f, first) && (executor || n < HELPERS);
    }

    private static boolean isExecutor(StackFrame f) {
        return Executor.class.isAssignableFrom(f.getDeclaringClass());
    }

    private static boolean ofOneJar(StackFrame a, StackFrame b) {
        return a.getDeclaringClass().getProtectionDomain() == b.getDeclaringClass().getProtectionDomain();
    }

    /** Returns the name of a function's class, or of the class of the task that an executor of the JDK has wrapped in the function. */
    private static String name(Object fn) {
        String name = (fn instanceof Runnable task ? JdkThreads.taskClass(task) : fn.getClass()).getName();
        int hidden = name.indexOf('/');
        return hidden < 0 ? name : name.substring(0, hidden); // A lambda's class name ends with an address.
    }

    private static boolean isUsers(Class<?> c) {
        ClassLoader l = c.getClassLoader();
        return l != null && l != ClassLoader.getPlatformClassLoader() && c.getProtectionDomain() != OURS;
    }

    private static String text(StackTraceElement e) {
        return e.getClassName() + "." + e.getMethodName() + " (" + e.getFileName() + ":" + e.getLineNumber() + ")";
    }
}
