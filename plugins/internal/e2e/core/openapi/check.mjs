// node check.mjs FILE: prints what is wrong with an OpenAPI document, one finding a line, and ends with 1 if there is any.
// One validator holds the document against the schema that the OpenAPI Initiative publishes; the linters know the rules
// which that schema cannot express: references, path parameters, ids, and examples that fit their schemas. What the
// recommended rules of the linters call an error is a finding, and so is what stands below.
import { readFile } from "node:fs/promises";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
import spectralCore from "@stoplight/spectral-core";
import spectralRules from "@stoplight/spectral-rulesets";

const source = await readFile(process.argv[2], "utf8");
const document = JSON.parse(source);
const findings = [];

const schema = await new Validator().validate(document);
if (!schema.valid) {
  const errors = Array.isArray(schema.errors) ? schema.errors : [{ message: schema.errors }];
  findings.push(...errors.map(({ instancePath, message }) => `schema: ${instancePath ?? ""} ${message}`));
}

const config = await createConfig({
  extends: ["recommended"],
  rules: {
    struct: "error",
    "no-unresolved-refs": "error",
    "no-identical-paths": "error",
    "no-path-trailing-slash": "error",
    "no-undefined-server-variable": "error",
    "no-server-trailing-slash": "error",
    "path-declaration-must-exist": "error",
    "path-parameters-defined": "error",
    "path-not-include-query": "error",
    "operation-operationId": "error",
    "operation-operationId-unique": "error",
    "operation-operationId-url-safe": "error",
    "operation-parameters-unique": "error",
    "operation-summary": "error",
    "operation-tag-defined": "error",
    "operation-2xx-response": "error",
    "no-enum-type-mismatch": "error",
    "no-example-value-and-externalValue": "error",
    "no-invalid-parameter-examples": "error",
    "no-invalid-schema-examples": "error",
    "no-invalid-media-type-examples": "error",
    "no-required-schema-properties-undefined": "error",
    "no-schema-type-mismatch": "error",
    "no-unused-components": "error",
  },
});
for (const { severity, ruleId, message, location } of await lintFromString({ source, absoluteRef: "/openapi.json", config })) {
  if (severity === "error") {
    findings.push(`${ruleId}: ${location?.[0]?.pointer ?? ""} ${message}`);
  }
}

const spectral = new spectralCore.Spectral();
spectral.setRuleset({ extends: [[spectralRules.oas, "recommended"]] });
for (const { severity, code, message, path } of await spectral.run(document)) {
  // 0 is an error; 1 to 3 are warnings, remarks and hints.
  if (severity === 0) {
    findings.push(`${code}: ${path.join("/")} ${message}`);
  }
}

console.log(`OpenAPI ${document.openapi}, ${Object.keys(document.paths).length} paths, ${findings.length} findings`);
findings.forEach((f) => console.log(f));
process.exitCode = findings.length > 0 ? 1 : 0;
