/* global document */
// The default theme, and diagrams: a fence marked `mermaid` becomes `<pre class="mermaid">`, which is drawn when its page opens.
import { onContentUpdated, useData } from 'vitepress';
import DefaultTheme from 'vitepress/theme';

const draw = async (isDark) => {
  const nodes = [...document.querySelectorAll('pre.mermaid:not([data-processed])')];
  if (nodes.length === 0) return;
  // The package sets a global. Pages without a diagram do not load it.
  await import('@mermaid-js/tiny');
  globalThis.mermaid.initialize({ startOnLoad: false, theme: isDark ? 'dark' : 'neutral' });
  await globalThis.mermaid.run({ nodes });
};

export default {
  extends: DefaultTheme,
  setup() {
    const { isDark } = useData();
    onContentUpdated(() => draw(isDark.value));
  },
};
