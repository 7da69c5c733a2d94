package vectors

import (
	"encoding/json"
	"errors"

	boxoffice "boxoffice.example/boxoffice/sdk/go"
)

// statementFile is statements.json.
type statementFile struct {
	Keys    json.RawMessage `json:"keys"`
	Vectors []struct {
		Name string  `json:"name"`
		JWS  string  `json:"jws"`
		Code *string `json:"code"`
	} `json:"vectors"`
}

// StatementResult is the code of a refusal, or the statement.
type StatementResult struct {
	Code      string               `json:"code,omitzero"`
	Statement *boxoffice.Statement `json:"statement,omitzero"`
}

// Statements returns what becomes of each text of statements.json, by its name: a map of [StatementResult].
func Statements(path string) (any, error) {
	var file statementFile
	if err := readFile(path, &file); err != nil {
		return nil, err
	}
	results := make(map[string]StatementResult, len(file.Vectors))
	for _, each := range file.Vectors {
		statement, err := boxoffice.VerifyStatement(each.JWS, file.Keys)
		result := StatementResult{Statement: statement}
		var refusal boxoffice.StatementRefusal
		if errors.As(err, &refusal) {
			result.Code = string(refusal)
		} else if err != nil {
			return nil, err
		}
		results[each.Name] = result
	}
	return results, nil
}
