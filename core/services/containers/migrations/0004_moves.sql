-- +goose Up
ALTER TABLE containers_projects ADD COLUMN move TEXT;
