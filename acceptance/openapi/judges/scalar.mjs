// node scalar.mjs DOCUMENT: prints what @scalar/openapi-parser finds, as JSON.
import { readFile } from 'node:fs/promises';
import { validate } from '@scalar/openapi-parser';

const { errors = [] } = await validate(await readFile(process.argv[2], 'utf8'));
process.stdout.write(JSON.stringify(errors.map(({ code, message, path }) => ({ code, message, path }))));
