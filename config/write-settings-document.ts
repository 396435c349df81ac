import { writeFileSync } from 'node:fs';
import { settingsDocument } from './settings-markdown.ts';

/** `npm run docs:settings`: writes docs/settings.md. */
writeFileSync(new URL('../docs/settings.md', import.meta.url), settingsDocument());
