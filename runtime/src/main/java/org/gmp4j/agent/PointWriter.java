// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.gmp4j.classfile.Bytes.i4;
import static org.gmp4j.classfile.Bytes.u2;

import java.util.Arrays;

import org.gmp4j.agent.PointScan.MethodPoints;
import org.gmp4j.classfile.Bytes;
import org.gmp4j.classfile.Constants;

/**
 * Writes the points into a class: an {@code invokedynamic} on the way back to each loop header, or in front of it, and at the start of
 * each method that calls itself ({@link CodeWriter}). Parts without points are copied byte by byte. Constants are only added, so no
 * index changes.
 *
 * <p>Rejected: {@code java.lang.classfile}. While a program starts and no code is compiled yet it takes several times as long, and it
 * computes the stack maps anew, while this class keeps them. The tests parse the output of this class with it and compare.
 */
final class PointWriter {
    /** Added to the depth of a loop that C2 may vectorise. */
    static final int VECTOR = Byte.MAX_VALUE + 1;

    private final PointScan scan;
    private final boolean alone;
    private final byte[] b;
    private final Constants constants;
    /** The bootstrap methods that are added: one for each method and depth. */
    private final Bytes links = new Bytes(64);
    private int linkCount;
    private int firstLink;
    private int link;
    private int plain;
    private int back;

    /** The current method: the constant of its name, and the constants that its points call, by depth. */
    private int methodName;
    private final int[] sites = new int[4 * VECTOR];

    private PointWriter(PointScan scan, boolean alone) {
        this.scan = scan;
        this.alone = alone;
        b = scan.classFile();
        constants = new Constants(scan.poolCount());
    }

    /** Returns the class with its points. {@code scan} has found some. */
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
        link = constants.staticHandle(alone ? LinkMethod.of(scan, constants)
                : constants.method(constants.type(JdkPoint.CLASS), JdkPoint.LINK, JdkPoint.LINK_TYPE));
        plain = constants.nameAndType(JdkPoint.POINT, "()V");
        back = constants.nameAndType(JdkPoint.POINT, "()Z");
        int attributeName = bootstrap < 0 ? constants.utf8("BootstrapMethods") : 0;
        // The methods come behind the constants in the file, but determine which constants there are.
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

    /** Returns the constant that a point of the current method calls. {@code depth} may include {@link #VECTOR}. */
    int site(int depth, boolean onTheWayBack) {
        int at = depth + (onTheWayBack ? 2 * VECTOR : 0);
        if (sites[at] == 0) {
            links.u2(link);
            links.u2(2);
            links.u2(methodName);
            links.u2(constants.number(depth));
            sites[at] = constants.invokeDynamic(firstLink + linkCount++, onTheWayBack ? back : plain);
        }
        return sites[at];
    }
}
