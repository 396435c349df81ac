import { addPrefix } from './add-prefix.ts';
import { allowedRequestTypes } from './allowed-request-types.ts';
import type { Check } from './check.ts';
import { contains } from './contains.ts';
import { containsCode } from './contains-code.ts';
import { gibberish } from './content/gibberish.ts';
import { judge } from './content/judge.ts';
import { language } from './content/language.ts';
import { moderateContent } from './content/moderate-content.ts';
import { pii } from './content/pii.ts';
import { promptInjection } from './content/prompt-injection.ts';
import { restorePii } from './content/restore-pii.ts';
import { secrets } from './content/secrets.ts';
import { characterCount, sentenceCount, wordCount } from './counts.ts';
import { endsWith } from './ends-with.ts';
import { inlineImageUrls } from './inline-image-urls.ts';
import { jsonKeys } from './json-keys.ts';
import { jsonSchema } from './json-schema.ts';
import { jwt } from './jwt/index.ts';
import { allLowercase, allUppercase } from './letters.ts';
import { log } from './log.ts';
import { requiredMetadataKeyPairs, requiredMetadataKeys } from './metadata.ts';
import { modelRules, modelWhitelist } from './models.ts';
import { notNull } from './not-null.ts';
import { partners } from './partners/index.ts';
import { regexMatch } from './regex-match.ts';
import { regexReplace } from './regex-replace.ts';
import { requestParametersCheck } from './request-parameters.ts';
import { requiredHeaders } from './required-headers.ts';
import { unreadFiles } from './unread-files.ts';
import { validUrls } from './valid-urls.ts';
import { webhook } from './webhook.ts';

const list: readonly Check[] = [
  addPrefix,
  allLowercase,
  allUppercase,
  allowedRequestTypes,
  characterCount,
  contains,
  containsCode,
  endsWith,
  inlineImageUrls,
  jsonKeys,
  jsonSchema,
  jwt,
  log,
  modelRules,
  modelWhitelist,
  notNull,
  regexMatch,
  regexReplace,
  requestParametersCheck,
  requiredHeaders,
  requiredMetadataKeyPairs,
  requiredMetadataKeys,
  sentenceCount,
  unreadFiles,
  validUrls,
  webhook,
  wordCount,
  gibberish,
  judge,
  language,
  moderateContent,
  pii,
  promptInjection,
  restorePii,
  secrets,
  ...partners,
];

/** Every check by its id. */
export const checks: ReadonlyMap<string, Check> = new Map(list.map((check) => [check.id, check]));

/** Ids that the published API of the known gateway has for checks whose ids differ there. */
export const otherIds: Readonly<Record<string, string>> = { 'default.isAllLowerCase': 'default.alllowercase' };
