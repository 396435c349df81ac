/** True for JSON, also for types that are based on it (`application/problem+json`). */
export function isJsonType(contentType: string): boolean {
  return contentType === 'application/json' || jsonType.test(contentType);
}

/** True for forms that may contain files. */
export function isMultipartForm(contentType: string): boolean {
  return multipartForm.test(contentType);
}

const jsonType = /^application\/([\w.+-]+\+)?json\b/i;
const multipartForm = /^multipart\/form-data\b/i;
