// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import java.io.StringReader;
import javax.xml.parsers.DocumentBuilderFactory;

import org.w3c.dom.Document;
import org.xml.sax.InputSource;

/** Reads the pages and pictures that commands write. */
public final class HtmlPage {
    private HtmlPage() {
    }

    /** Returns the elements of a page, or fails if it is not well-formed. */
    public static Document parse(String text) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setExpandEntityReferences(false);
        return factory.newDocumentBuilder().parse(new InputSource(new StringReader(text.replaceFirst("<!DOCTYPE html>", ""))));
    }
}
