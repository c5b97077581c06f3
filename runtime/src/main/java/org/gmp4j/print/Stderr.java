// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.print;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.Charset;

/**
 * The process's stderr itself, for sysmon, for Ms on their own stacks, and for fatal errors. Not {@link System#err}: a goroutine
 * that was preempted while it holds the lock of that stream waits for a P; were sysmon to wait for the lock meanwhile, it would take
 * no P from anybody. Takes no lock of Java's; the text of one call may come between two lines of others, not inside one of ours.
 * Thread-safe. {@link System#setErr} does not change where it goes.
 */
public final class Stderr {
    private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.err);
    /** As System.err has it. */
    private static final Charset CHARSET =
            Charset.forName(System.getProperty("stderr.encoding", ""), Charset.defaultCharset());

    private Stderr() {
    }

    /** Prints text, with its newlines. */
    public static void print(String text) {
        write(bytes(text));
    }

    /**
     * Prints a line made of these parts, or nothing for want of memory. It formats nothing: if the heap is full at the first use of
     * the JDK's formatter, its classes cannot initialise, and no code of the process can format any more.
     */
    public static void tryPrint(String... parts) {
        try {
            print(String.join("", parts) + "\n");
        } catch (OutOfMemoryError e) {
            return; // The line was only a hint.
        }
    }

    /** Returns the bytes of a text for {@link #write}. The caller makes them while there is memory. */
    public static byte[] bytes(String text) {
        return text.getBytes(CHARSET);
    }

    /** Writes bytes; needs no memory. */
    public static void write(byte[] text) {
        try {
            OUT.write(text);
        } catch (IOException e) {
            return; // Nobody can be told.
        }
    }

    /** Prints an exception with its stack and its causes, as far as it lets us. */
    public static void print(Throwable t) {
        try {
            t.printStackTrace(new PrintStream(OUT, false, CHARSET)); // With a lock of its own.
        } catch (Throwable e) {
            print(ThrowableText.full(t));
        }
    }
}
