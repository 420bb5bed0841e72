// Makes VitePress show these pages as a forge does: braces are text, diagrams are drawn, and a link that leaves the pages shows its target.
import { posix } from 'node:path';

const isOutside = (href, page) =>
  !/^[a-z]+:|^#/.test(href) && posix.join(posix.dirname(page), href.split('#')[0]).startsWith('../');

/** Vue would evaluate `{{…}}`; as entities the braces are what the reader sees. */
const withoutBraces = (html) => html.replaceAll('{{', '&#123;&#123;');

/** @param {import('markdown-it')} md what VitePress renders with */
export const plainMarkdown = (md) => {
  // Links into the code lead nowhere on the site: their text stays, with the path as a tooltip.
  md.core.ruler.push('outside-links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let outside = null;
      for (const token of children ?? []) {
        if (token.type === 'link_open' && isOutside(token.attrGet('href') ?? '', env.relativePath ?? '')) {
          outside = token.attrGet('href');
          token.type = 'html_inline';
          token.content = `<span title="${md.utils.escapeHtml(outside.replace(/^(\.\.\/)+/, ''))}">`;
        } else if (token.type === 'link_close' && outside !== null) {
          outside = null;
          token.type = 'html_inline';
          token.content = '</span>';
        }
      }
    }
  });
  const { fence, text, code_inline: code } = md.renderer.rules;
  md.renderer.rules.text = (...args) => withoutBraces(text(...args));
  if (code !== undefined) md.renderer.rules.code_inline = (...args) => withoutBraces(code(...args));
  md.renderer.rules.fence = (tokens, index, ...rest) =>
    tokens[index].info.trim() === 'mermaid'
      ? `<pre class="mermaid" v-pre>${md.utils.escapeHtml(tokens[index].content)}</pre>`
      : fence(tokens, index, ...rest);
};
