// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.stack.JdkThreads;

/**
 * Decides, once for the process, how the runtime reads and writes words off-heap ({@link IntField}, {@link LongField}) and fields of Java
 * objects ({@link HeapInt}, {@link HeapLong}, {@link HeapRef}).
 *
 * <table>
 * <caption>The two implementations, by {@code -Dgmp.access}</caption>
 * <tr><td>{@code raw}</td><td>{@link RawInt}, {@link RawLong}, offsets of fields</td><td>the default</td></tr>
 * <tr><td>{@code varhandle}</td><td>{@link HandleInt}, {@link HandleLong}, handles of fields</td><td>also with {@code gmp.checkptr},
 * because raw access checks nothing, and where the JDK is not open to the runtime: goroutines cannot run there, but structs can be read,
 * and channels and locks can be used as long as no thread has to wait</td></tr>
 * </table>
 *
 * Both have the same memory orders under the same names, because a {@code VarHandle} ends in the intrinsic that raw access calls.
 */
final class Access {
    static final String PROPERTY = "gmp.access";
    private static final String RAW = "raw";
    private static final String VARHANDLE = "varhandle";

    /** Whether each access checks its address. */
    static final boolean CHECKPTR = ProcessFlag.isSet("checkptr");

    private static final String SETTING = System.getProperty(PROPERTY, RAW);

    /** Whether fields are {@link RawInt} and {@link RawLong}. */
    static final boolean IS_RAW = isRaw(SETTING, CHECKPTR) && JdkThreads.openToRuntime("jdk.internal.misc");

    private Access() {
    }

    static boolean isRaw(String setting, boolean checkptr) {
        return !VARHANDLE.equals(setting) && !checkptr;
    }

    /** Throws {@link IllegalArgumentException}, with one sentence, unless {@code setting} is a value of the property. */
    static void check(String setting) {
        if (!RAW.equals(setting) && !VARHANDLE.equals(setting)) {
            throw new IllegalArgumentException("%s is \"%s\": use %s or %s".formatted(PROPERTY, setting, RAW, VARHANDLE));
        }
    }

    static void check() {
        check(SETTING);
    }

    static IntField intField(long offset, Mem.Arena arena) {
        if (IS_RAW) {
            return new RawInt(offset);
        }
        return new HandleInt(offset, arena); // In a conditional expression the verifier would load this class.
    }

    static LongField longField(long offset, Mem.Arena arena) {
        if (IS_RAW) {
            return new RawLong(offset);
        }
        return new HandleLong(offset, arena);
    }

    static IntField intWord() {
        if (IS_RAW) {
            return new RawInt(0);
        }
        return new HandleInt(0, null);
    }

    static LongField longWord() {
        if (IS_RAW) {
            return new RawLong(0);
        }
        return new HandleLong(0, null);
    }
}
