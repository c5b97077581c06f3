// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.gmp4j.classfile.Bytes.i4;
import static org.gmp4j.classfile.Bytes.u2;
import static org.gmp4j.classfile.Opcodes.*;

import java.util.Arrays;

import org.gmp4j.agent.PointScan.MethodPoints;
import org.gmp4j.classfile.Bytes;
import org.gmp4j.classfile.Constants;

/**
 * Writes the points into a class: on the way back to each loop header, or in front of the header, and at the start of each method that
 * calls itself ({@link CodeWriter}). Parts without points are copied byte by byte. Constants are only added, so no index changes.
 *
 * <p>A point calls the class that {@link JdkPoint} defines, in one of two forms:
 *
 * <ul>
 * <li>A dynamic constant, the {@link Site}, is loaded and passed to a static method. The interpreter executes two short methods for it. All
 * points at one loop depth of a method share a constant, which is linked once. In a class that will be loaded without the agent the
 * constant is null if there is no runtime. Then the static method does not exist, and is not called.
 * <li>An {@code invokedynamic}. It is used in class files that are too old for dynamic constants. It is also used for plain points of a
 * class that will be loaded without the agent, where a jump over the call would need a stack map frame of its own. Each such call site is
 * linked separately, and the interpreter executes the method handle's frames, too.
 * </ul>
 *
 * <p>Rejected: {@code java.lang.classfile}. While that library is not compiled yet, at the start of a program, it takes several times as
 * long as this class. It also computes the stack maps anew, while this class keeps them. The tests compare the output of this class with
 * the output of that library.
 */
final class PointWriter {
    /** The number that is added to the depth of a loop that C2 may vectorise. */
    static final int VECTOR = Byte.MAX_VALUE + 1;
    /** The length of the call with a constant. */
    static final int CONSTANT_SIZE = 6;
    /** The length of the test for null that may precede the call with a constant. */
    static final int TEST_SIZE = 6;
    private static final int IFNULL_SIZE = 3;
    /** The length of the call by {@code invokedynamic}. */
    private static final int CALL_SITE_SIZE = 5;

    /** The first version of class files with dynamic constants. */
    private static final int DYNAMIC_CONSTANTS = 55;

    private final PointScan scan;
    private final boolean alone;
    /** Whether the class may have dynamic constants. */
    private final boolean dynamic;
    private final byte[] b;
    private final Constants constants;
    /** The bootstrap methods that are added, with their arguments. */
    private final Bytes links = new Bytes(64);
    private int linkCount;
    private int firstLink;
    private int link;
    /** The name and type of points that are dynamic constants. */
    private int constant;
    /** The methods to which the dynamic constants are passed. */
    private int backMethod;
    private int plainMethod;
    /** The names and types of points that are call sites. */
    private int back;
    private int plain;

    /** The constant of the current method's name. */
    private int methodName;
    /** The current method's dynamic constants, its call sites, and its call sites on the way back, each by depth. */
    private final int[] sites = new int[3 * 2 * VECTOR];

    private PointWriter(PointScan scan, boolean alone) {
        this.scan = scan;
        this.alone = alone;
        b = scan.classFile();
        constants = new Constants(scan.poolCount());
        dynamic = u2(b, 6) >= DYNAMIC_CONSTANTS;
    }

    /** Returns the class with its points. {@code scan} has found at least one. */
    static byte[] write(PointScan scan) {
        return new PointWriter(scan, false).writeClass();
    }

    /** Returns the class with its points, for a class that will be loaded without the agent: see {@link LinkMethod}. */
    static byte[] writeAlone(PointScan scan) {
        return new PointWriter(scan, true).writeClass();
    }

    private byte[] writeClass() {
        int bootstrap = bootstrapMethods();
        firstLink = bootstrap < 0 ? 0 : u2(b, bootstrap + 6);
        link = constants.staticHandle(alone ? LinkMethod.of(scan, constants) : jdk(JdkPoint.SITE, JdkPoint.SITE_TYPE));
        if (dynamic) {
            constant = constants.nameAndType(JdkPoint.POINT, "Ljava/lang/Object;");
            backMethod = jdk(JdkPoint.BACK, JdkPoint.BACK_TYPE);
            plainMethod = jdk(JdkPoint.PLAIN, JdkPoint.PLAIN_TYPE);
        }
        plain = constants.nameAndType(JdkPoint.POINT, "()V");
        back = constants.nameAndType(JdkPoint.POINT, "()Z");
        int attributeName = bootstrap < 0 ? constants.utf8("BootstrapMethods") : 0;
        // The methods follow the constants in the file, but determine which constants there are.
        Bytes methods = new Bytes(b.length + b.length / 8);
        writeMethods(methods);
        if (alone) {
            LinkMethod.write(constants, methods);
        }

        Bytes out = new Bytes(b.length + methods.size() / 8 + 1024);
        out.copy(b, 0, 8);
        out.u2(constants.count());
        out.copy(b, 10, scan.body());
        constants.writeTo(out);
        out.copy(b, scan.body(), scan.methods());
        out.u2(u2(b, scan.methods()) + (alone ? 1 : 0));
        out.append(methods);
        writeAttributes(out, bootstrap, attributeName);
        return out.toArray();
    }

    /** Returns the offset of the class's {@code BootstrapMethods}, or -1. */
    private int bootstrapMethods() {
        int at = scan.attributes();
        int count = u2(b, at);
        at += 2;
        for (int i = 0; i < count; i++) {
            if (scan.isUtf8(u2(b, at), "BootstrapMethods")) {
                return at;
            }
            at += 6 + i4(b, at + 2);
        }
        return -1;
    }

    private void writeAttributes(Bytes out, int bootstrap, int name) {
        int at = scan.attributes();
        out.u2(u2(b, at) + (bootstrap < 0 ? 1 : 0));
        if (bootstrap < 0) {
            out.copy(b, at + 2, b.length);
            out.u2(name);
            out.i4(2 + links.size());
            out.u2(linkCount);
            out.append(links);
            return;
        }
        int length = i4(b, bootstrap + 2);
        out.copy(b, at + 2, bootstrap + 2);
        out.i4(length + links.size());
        out.u2(firstLink + linkCount);
        out.copy(b, bootstrap + 8, bootstrap + 6 + length);
        out.append(links);
        out.copy(b, bootstrap + 6 + length, b.length);
    }

    private void writeMethods(Bytes out) {
        int copied = scan.methods() + 2;
        for (MethodPoints m : scan.found()) {
            out.copy(b, copied, m.code());
            methodName = constants.string(m.name());
            Arrays.fill(sites, 0);
            new CodeWriter(scan, m, out, this).write();
            copied = m.code() + 6 + i4(b, m.code() + 2);
        }
        out.copy(b, copied, scan.attributes());
    }

    /** Returns the constant of a method of {@link JdkPoint}'s class. */
    private int jdk(String method, String type) {
        return constants.method(constants.type(JdkPoint.CLASS), method, type);
    }

    /** Returns whether a point, on the way back or not, is a dynamic constant. */
    private boolean isConstant(boolean onTheWayBack) {
        return dynamic && (!alone || onTheWayBack);
    }

    /** Returns the length of the code that {@link #call} writes. */
    int callSize(boolean onTheWayBack) {
        return !isConstant(onTheWayBack) ? CALL_SITE_SIZE : CONSTANT_SIZE + (alone ? TEST_SIZE : 0);
    }

    /** Writes the call of a point of the current method. {@code depth} may include {@link #VECTOR}. */
    void call(Bytes out, int depth, boolean onTheWayBack) {
        if (!isConstant(onTheWayBack)) {
            out.u1(INVOKEDYNAMIC);
            out.u2(callSite(depth, onTheWayBack));
            out.u2(0);
            return;
        }
        int site = constant(depth);
        if (alone) {
            out.u1(LDC_W);
            out.u2(site);
            out.u1(IFNULL);
            out.u2(IFNULL_SIZE + CONSTANT_SIZE + CodeWriter.BRANCH_SIZE); // to the header
        }
        out.u1(LDC_W);
        out.u2(site);
        out.u1(INVOKESTATIC);
        out.u2(onTheWayBack ? backMethod : plainMethod);
    }

    private int constant(int depth) {
        if (sites[depth] == 0) {
            sites[depth] = constants.dynamic(bootstrap(depth), constant);
        }
        return sites[depth];
    }

    private int callSite(int depth, boolean onTheWayBack) {
        int at = depth + (onTheWayBack ? 4 : 2) * VECTOR;
        if (sites[at] == 0) {
            sites[at] = constants.invokeDynamic(bootstrap(depth), onTheWayBack ? back : plain);
        }
        return sites[at];
    }

    /** Adds a bootstrap method with its arguments. Returns its index. */
    private int bootstrap(int depth) {
        links.u2(link);
        links.u2(2);
        links.u2(methodName);
        links.u2(constants.number(depth));
        return firstLink + linkCount++;
    }
}
