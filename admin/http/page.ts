import { createHash } from 'node:crypto';
import { RawReply } from './raw-reply.ts';

/** A page for browsers: self-contained, never cached, and it cannot be framed. */
export interface Page {
  readonly title: string;
  /** HTML. Text of others must have passed `escapeHtml`. */
  readonly body: string;
  readonly script?: string;
  readonly status?: RawReply['status'];
  /** Origins to which forms of the page may lead, besides the service itself. */
  readonly formTargets?: readonly string[];
}

/** Returns the reply with the page. */
export function pageReply({ title, body, script = '', status = 200, formTargets = [] }: Page): RawReply {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
<h1>${escapeHtml(title)}</h1>
${body}
${script === '' ? '' : `<script>${script}</script>`}
</html>
`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': [
      "default-src 'none'",
      `style-src '${hashOf(style)}'`,
      ...(script === '' ? [] : [`script-src '${hashOf(script)}'`, "connect-src 'self'"]),
      `form-action 'self'${formTargets.map((one) => ` ${one}`).join('')}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
  return new RawReply(html, headers, status);
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:30rem;margin:4rem auto;padding:0 1rem;color:#222}
label{display:block;margin:1rem 0}input,select{display:block;width:100%;box-sizing:border-box;padding:.5rem;font:inherit}
button{padding:.5rem 1rem;font:inherit}p[role=status]{min-height:1.5em}dt{font-weight:600}dd{margin:0 0 .5rem;overflow-wrap:anywhere}`;

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
