import { createHash } from 'node:crypto';

/** Files of the pages. The style has the colours that the console will use, light and dark, with a contrast of at least 4.5. */
const style = `:root{color-scheme:light dark;--text:#1b1f24;--muted:#57606a;--page:#f6f8fa;--panel:#fff;--line:#d0d7de;--accent:#0550ae;--on-accent:#fff;--bad:#a40e26;--good:#116329}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--muted:#9ea7b3;--page:#0d1117;--panel:#161b22;--line:#30363d;--accent:#79c0ff;--on-accent:#0d1117;--bad:#ff9492;--good:#7ee787}}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;margin:0;background:var(--page);color:var(--text)}
main{max-width:34rem;margin:3rem auto;padding:1.5rem 2rem;background:var(--panel);border:1px solid var(--line);border-radius:.5rem}
h1{font-size:1.5rem;margin:0 0 1rem}h2{font-size:1.125rem;margin:2rem 0 .5rem}
label{display:block;margin:1rem 0}
input,select{display:block;width:100%;margin-top:.25rem;padding:.5rem;font:inherit;color:inherit;background:var(--page);border:1px solid var(--muted);border-radius:.25rem}
button{padding:.5rem 1rem;font:inherit;color:var(--on-accent);background:var(--accent);border:0;border-radius:.25rem;cursor:pointer}
button.plain{color:var(--accent);background:none;border:1px solid var(--accent)}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
[role=alert]{color:var(--bad)}[role=status]{color:var(--good)}
.muted{color:var(--muted)}
ul.items{list-style:none;padding:0}ul.items>li{border-top:1px solid var(--line);padding:.75rem 0}
code,pre{font:1rem/1.6 ui-monospace,monospace;overflow-wrap:anywhere;white-space:pre-wrap}
dt{font-weight:600}dd{margin:0 0 .75rem;overflow-wrap:anywhere}
.code{background:#fff;width:12rem;padding:.75rem}.code svg{display:block;width:100%}
[hidden]{display:none}
`;

/** Sends the token behind the \`#\` of a link. Without JavaScript users paste the link. */
const link = `'use strict';
const field = document.getElementById('link');
if (field && /^#[a-z-]+=[A-Za-z0-9_-]+$/.test(location.hash)) {
  field.value = location.href;
  history.replaceState(null, '', location.pathname);
  field.form.requestSubmit();
}
`;

/** Sends the form of a SAML response once more, from a page of this service. */
const resend = `'use strict';
document.getElementById('resend').requestSubmit();
`;

/** Security keys: the only part of the pages that needs JavaScript. */
const webauthn = `'use strict';
const post = async (path, body) => {
  const reply = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const found = await reply.json();
  if (!reply.ok) throw new Error(found.data.message);
  return found;
};
const create = async (options) =>
  (await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })).toJSON();
const get = async (options) =>
  (await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })).toJSON();
const steps = {
  async verify({ pending_token }) {
    const { options } = await post('second-factor/options', { pending_token });
    return post('second-factor/verify', { pending_token, credential: await get(options) });
  },
  async 'enrol-pending'({ pending_token, name }) {
    const { id, options } = await post('second-factor/enrol', { pending_token, kind: 'webauthn', name });
    return post('second-factor/confirm', { pending_token, factor_id: id, credential: await create(options) });
  },
  async enrol({ name, current_password }) {
    const { id, options } = await post('second-factors/enrolments', { kind: 'webauthn', name, current_password });
    return post('second-factors/' + id + '/confirm', { credential: await create(options) });
  },
};
for (const form of document.querySelectorAll('form[data-webauthn]')) {
  const status = form.querySelector('[role=alert]');
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
    status.textContent = 'This browser does not support security keys.';
    continue;
  }
  form.querySelector('button').disabled = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    status.textContent = '';
    try {
      const done = await steps[form.dataset.webauthn](Object.fromEntries(new FormData(form)));
      if (!done.recovery_codes) return location.assign(form.dataset.next);
      document.getElementById('new-codes-list').textContent = done.recovery_codes.join('\\n');
      document.getElementById('new-codes').hidden = false;
      document.getElementById('new-codes').focus();
      form.hidden = true;
    } catch (error) {
      status.textContent = error.name === 'NotAllowedError' ? 'The security key did not reply in time. Try again.' : error.message;
    }
  });
}
`;

interface Asset {
  readonly type: string;
  readonly text: string;
}

const files: Readonly<Record<string, Asset>> = {
  'pages.css': { type: 'text/css; charset=utf-8', text: style },
  'link.js': { type: 'text/javascript; charset=utf-8', text: link },
  'resend.js': { type: 'text/javascript; charset=utf-8', text: resend },
  'webauthn.js': { type: 'text/javascript; charset=utf-8', text: webauthn },
};

export type AssetName = 'pages.css' | 'link.js' | 'resend.js' | 'webauthn.js';

/** Names with a hash of the content, so that browsers never mix versions. */
const hashed = new Map(
  Object.entries(files).map(([name, { text }]) => {
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
    return [name.replace('.', `-${hash}.`), name] as const;
  }),
);

/** Path of an asset, relative to the pages. */
export function assetPath(name: AssetName): string {
  const found = [...hashed].find(([, plain]) => plain === name);
  return `assets/${found?.[0] ?? name}`;
}

/** Returns the file with this hashed name; null if there is none. */
export function assetReply(hashedName: string): Response | null {
  const file = files[hashed.get(hashedName) ?? ''];
  if (!file) return null;
  const headers = {
    'content-type': file.type,
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
  };
  return new Response(file.text, { headers });
}
