package org.gmp4j.agent;

import static java.lang.classfile.constantpool.PoolEntry.*;

import java.util.HashMap;
import java.util.Map;

/** Constants that are added behind those a class has. */
final class Constants {
    private static final int REF_INVOKE_STATIC = 6;

    private final Bytes bytes = new Bytes(512);
    private final Map<String, Integer> texts = new HashMap<>();
    private final Map<Integer, Integer> numbers = new HashMap<>();
    private int count;

    /** {@code count} as in a class file: one more than there are constants. */
    Constants(int count) {
        this.count = count;
    }

    int count() {
        return count;
    }

    void writeTo(Bytes out) {
        out.append(bytes);
    }

    int utf8(String ascii) {
        Integer known = texts.get(ascii);
        if (known == null) {
            bytes.u1(TAG_UTF8);
            bytes.utf8(ascii);
            known = count++;
            texts.put(ascii, known);
        }
        return known;
    }

    int number(int value) {
        Integer known = numbers.get(value);
        if (known == null) {
            bytes.u1(TAG_INTEGER);
            bytes.i4(value);
            known = count++;
            numbers.put(value, known);
        }
        return known;
    }

    int string(int utf8) {
        return entry(TAG_STRING, utf8);
    }

    int type(String name) {
        return entry(TAG_CLASS, utf8(name));
    }

    int nameAndType(String name, String type) {
        return entry(TAG_NAME_AND_TYPE, utf8(name), utf8(type));
    }

    int field(int owner, String name, String type) {
        return entry(TAG_FIELDREF, owner, nameAndType(name, type));
    }

    int method(int owner, String name, String type) {
        return entry(TAG_METHODREF, owner, nameAndType(name, type));
    }

    int interfaceMethod(int owner, String name, String type) {
        return entry(TAG_INTERFACE_METHODREF, owner, nameAndType(name, type));
    }

    int staticHandle(int method) {
        bytes.u1(TAG_METHOD_HANDLE);
        bytes.u1(REF_INVOKE_STATIC);
        bytes.u2(method);
        return count++;
    }

    int invokeDynamic(int bootstrap, int nameAndType) {
        return entry(TAG_INVOKE_DYNAMIC, bootstrap, nameAndType);
    }

    private int entry(int tag, int index) {
        bytes.u1(tag);
        bytes.u2(index);
        return count++;
    }

    private int entry(int tag, int first, int second) {
        bytes.u1(tag);
        bytes.u2(first);
        bytes.u2(second);
        return count++;
    }
}
