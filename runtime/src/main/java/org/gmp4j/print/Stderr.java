// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.print;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.Charset;

/**
 * Writes to the process's own stderr for sysmon, for Ms on their own stacks, and for fatal errors. Such code must not use {@link
 * System#err}. A goroutine may be preempted while it holds that stream's lock, and then it waits for a P. If sysmon waited for that lock,
 * it could not take a P from another goroutine. This class takes no Java lock that another thread may hold. The text of one call may come
 * between lines of other calls, but not inside a line. {@link System#setErr} has no effect on this class. Thread-safe.
 */
public final class Stderr {
    private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.err);
    /** The charset of System.err. */
    private static final Charset CHARSET =
            Charset.forName(System.getProperty("stderr.encoding", ""), Charset.defaultCharset());

    private Stderr() {
    }

    /** Prints text, and adds no newline. */
    public static void print(String text) {
        write(bytes(text));
    }

    /**
     * Prints a line made of these parts, or nothing when there is no memory. It does not use the JDK's formatter. If the heap is full at
     * the formatter's first use, the formatter's classes fail to initialise, and no code of the process can use them again.
     */
    public static void tryPrint(String... parts) {
        try {
            print(String.join("", parts) + "\n");
        } catch (OutOfMemoryError e) {
            return; // The process can do without the line.
        }
    }

    /** Returns the bytes of a text for {@link #write}. Needs memory. */
    public static byte[] bytes(String text) {
        return text.getBytes(CHARSET);
    }

    /** Writes bytes. Needs no memory. */
    public static void write(byte[] text) {
        try {
            OUT.write(text);
        } catch (IOException e) {
            return; // There is no other place to report to.
        }
    }

    /** Prints an exception with its stack and its causes. If its own methods fail, prints the rest. */
    public static void print(Throwable t) {
        try {
            t.printStackTrace(new PrintStream(OUT, false, CHARSET)); // No other thread uses this stream's lock.
        } catch (Throwable e) {
            print(ThrowableText.full(t));
        }
    }
}
